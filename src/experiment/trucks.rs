//! The truck: where everything is, and which actions there are. The loading domain of the fifth planning competition,
//! with one truck, as the TRAC paper uses it.

use std::fmt;

use super::trucks_task::Task;

/// A package: where it begins, where it goes, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Package {
    /// The place where it lies at first.
    pub from: usize,
    /// The place where it is to be delivered.
    pub to: usize,
    /// The last hour in which that counts.
    pub by: u32,
}

/// Where a package is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// At a place.
    At(usize),
    /// In an area of the truck, from 0, which is next to the door.
    In(usize),
    /// Delivered in this hour.
    Delivered(u32),
}

/// What the driver does. Packages, areas and places are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A package from the place into an area.
    Load {
        /// Which.
        package: usize,
        /// Where.
        area: usize,
    },
    /// A package from its area to the place.
    Unload {
        /// Which.
        package: usize,
    },
    /// To another place; it takes an hour, and nothing else takes time.
    Drive {
        /// Where.
        to: usize,
    },
    /// A package, which lies where it is to go, into the hands of who waits for it.
    Deliver {
        /// Which.
        package: usize,
    },
    /// Nothing more.
    Done,
}

/// Why an action cannot be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Impossible {
    /// The package is not where the truck is.
    NotHere(usize),
    /// The package is not in the truck.
    NotLoaded(usize),
    /// Another package stands in the area, or between it and the door.
    Blocked {
        /// The package in the way.
        by: usize,
        /// Where it stands.
        area: usize,
    },
    /// The truck is there already.
    There(usize),
    /// The package does not go to this place.
    WrongPlace(usize),
    /// There is no such package, area or place.
    Unknown,
}

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truck<'a> {
    task: &'a Task,
    at: usize,
    hour: u32,
    packages: Vec<Whereabouts>,
}

impl<'a> Truck<'a> {
    /// As the task begins.
    pub fn new(task: &'a Task) -> Self {
        let packages = task.packages.iter().map(|package| Whereabouts::At(package.from)).collect();
        Self { task, at: task.start, hour: 0, packages }
    }

    /// The place where the truck is.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Hours since the beginning.
    pub fn hour(&self) -> u32 {
        self.hour
    }

    /// Where each package is.
    pub fn packages(&self) -> &[Whereabouts] {
        &self.packages
    }

    /// What is in an area.
    pub fn in_area(&self, area: usize) -> Option<usize> {
        self.packages.iter().position(|place| *place == Whereabouts::In(area))
    }

    /// Packages that were delivered.
    pub fn delivered(&self) -> usize {
        self.packages.iter().filter(|place| matches!(place, Whereabouts::Delivered(_))).count()
    }

    /// Packages that were delivered by their hour: the reward.
    pub fn in_time(&self) -> usize {
        let fine = |(place, package): (&Whereabouts, &Package)| matches!(place, Whereabouts::Delivered(at) if *at <= package.by);
        self.packages.iter().zip(&self.task.packages).filter(|both| fine(*both)).count()
    }

    /// Whether nothing is left to deliver.
    pub fn is_finished(&self) -> bool {
        self.delivered() == self.packages.len()
    }

    /// Does an action; where it cannot be done, nothing changes.
    pub fn take(&mut self, action: Action) -> Result<(), Impossible> {
        match action {
            Action::Load { package, area } => {
                if area >= self.task.areas {
                    return Err(Impossible::Unknown);
                }
                if self.place_of(package)? != Whereabouts::At(self.at) {
                    return Err(Impossible::NotHere(package));
                }
                self.free(0..=area)?;
                self.packages[package] = Whereabouts::In(area);
            }
            Action::Unload { package } => {
                let Whereabouts::In(area) = self.place_of(package)? else { return Err(Impossible::NotLoaded(package)) };
                self.free(0..area)?;
                self.packages[package] = Whereabouts::At(self.at);
            }
            Action::Drive { to } if to >= self.task.places.len() => return Err(Impossible::Unknown),
            Action::Drive { to } if to == self.at => return Err(Impossible::There(to)),
            Action::Drive { to } => (self.at, self.hour) = (to, self.hour + 1),
            Action::Deliver { package } => {
                if self.place_of(package)? != Whereabouts::At(self.at) {
                    return Err(Impossible::NotHere(package));
                }
                if self.task.packages[package].to != self.at {
                    return Err(Impossible::WrongPlace(package));
                }
                self.packages[package] = Whereabouts::Delivered(self.hour);
            }
            Action::Done => {}
        }
        Ok(())
    }

    fn place_of(&self, package: usize) -> Result<Whereabouts, Impossible> {
        self.packages.get(package).copied().ok_or(Impossible::Unknown)
    }

    fn free(&self, areas: impl IntoIterator<Item = usize>) -> Result<(), Impossible> {
        let blocked = areas.into_iter().find_map(|area| Some(Impossible::Blocked { by: self.in_area(area)?, area }));
        blocked.map_or(Ok(()), Err)
    }

    /// Every action that can be done now.
    pub fn possible(&self) -> Vec<Action> {
        let packages = 0..self.packages.len();
        let loads =
            packages.clone().flat_map(|p| (0..self.task.areas).map(move |area| Action::Load { package: p, area }));
        let others = packages.flat_map(|package| [Action::Unload { package }, Action::Deliver { package }]);
        let drives = (0..self.task.places.len()).map(|to| Action::Drive { to });
        let all = loads.chain(others).chain(drives).chain([Action::Done]);
        all.filter(|action| self.clone().take(*action).is_ok()).collect()
    }

    /// The state in words: what a driver sees.
    pub fn in_words(&self) -> String {
        let place = |at: usize| self.task.places[at];
        let areas = (0..self.task.areas).map(|area| match self.in_area(area) {
            Some(package) => format!("a{} holds p{}", area + 1, package + 1),
            None => format!("a{} is free", area + 1),
        });
        let areas: Vec<String> = areas.collect();
        let mut lines = vec![format!("Hour {}. The truck is at {}; {}.", self.hour, place(self.at), areas.join(", "))];
        lines.extend(self.packages.iter().enumerate().map(|(i, where_)| match where_ {
            Whereabouts::At(at) => format!("p{} lies at {}.", i + 1, place(*at)),
            Whereabouts::In(area) => format!("p{} is in a{}.", i + 1, area + 1),
            Whereabouts::Delivered(hour) => format!("p{} was delivered in hour {hour}.", i + 1),
        }));
        lines.join("\n")
    }
}

impl Action {
    /// As it is asked for and told.
    pub fn in_words(self, task: &Task) -> String {
        match self {
            Self::Load { package, area } => format!("load p{} into a{}", package + 1, area + 1),
            Self::Unload { package } => format!("unload p{}", package + 1),
            Self::Drive { to } => format!("drive to {}", task.places.get(to).copied().unwrap_or("nowhere")),
            Self::Deliver { package } => format!("deliver p{}", package + 1),
            Self::Done => "done".to_owned(),
        }
    }
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHere(package) => write!(f, "p{} does not lie where the truck is", package + 1),
            Self::NotLoaded(package) => write!(f, "p{} is not in the truck", package + 1),
            Self::Blocked { by, area } => write!(f, "p{} stands in a{}", by + 1, area + 1),
            Self::There(_) => f.write_str("the truck is there already"),
            Self::WrongPlace(package) => write!(f, "p{} does not go to this place", package + 1),
            Self::Unknown => f.write_str("there is no such package, area or place"),
        }
    }
}
