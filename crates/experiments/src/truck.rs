//! The state of the truck world and the actions on it: the trucks domain of the fifth International Planning Competition
//! with one truck, as in the TRAC paper.

use std::fmt;

use super::truck_task::{Package, Task};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageLocation {
    /// At a place.
    At(usize),
    /// In an area of the truck; area 0 is next to the door.
    In(usize),
    /// Delivered, in this hour.
    Delivered(u32),
}

/// An action of the driver. Packages, areas and places count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Load a package from the current place into an area.
    Load {
        package: usize,
        area: usize,
    },
    /// Unload a package at the current place.
    Unload {
        package: usize,
    },
    /// Drive to another place. It takes an hour; other actions take no time.
    Drive {
        to: usize,
    },
    /// Deliver a package that lies at its destination, where the truck is.
    Deliver {
        package: usize,
    },
    Done,
}

/// Why an action is not possible. The numbers are those of packages, areas and places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionError {
    /// The package is not where the truck is.
    NotHere(usize),
    /// The package is not in the truck.
    NotLoaded(usize),
    /// Another package is in the area, or between it and the door.
    Blocked {
        by: usize,
        /// The area of the blocking package.
        area: usize,
    },
    AlreadyThere(usize),
    /// The package does not go to this place.
    WrongPlace(usize),
    /// There is no such package, area or place.
    Unknown,
}

/// The state of a task after some actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truck<'a> {
    task: &'a Task,
    at: usize,
    hour: u32,
    packages: Vec<PackageLocation>,
}

impl<'a> Truck<'a> {
    /// The initial state of a task.
    pub fn new(task: &'a Task) -> Self {
        let packages = task.packages.iter().map(|package| PackageLocation::At(package.from)).collect();
        Self { task, at: task.start, hour: 0, packages }
    }

    /// The place where the truck is.
    pub fn current_place(&self) -> usize {
        self.at
    }

    /// Hours since the beginning.
    pub fn hour(&self) -> u32 {
        self.hour
    }

    pub fn packages(&self) -> &[PackageLocation] {
        &self.packages
    }

    pub fn in_area(&self, area: usize) -> Option<usize> {
        self.packages.iter().position(|place| *place == PackageLocation::In(area))
    }

    /// The number of packages that were delivered.
    pub fn delivered(&self) -> usize {
        self.packages.iter().filter(|place| matches!(place, PackageLocation::Delivered(_))).count()
    }

    /// The number of packages that were delivered in time.
    pub fn in_time(&self) -> usize {
        let is_in_time = |(place, package): (&PackageLocation, &Package)| matches!(place, PackageLocation::Delivered(at) if *at <= package.by);
        self.packages.iter().zip(&self.task.packages).filter(|both| is_in_time(*both)).count()
    }

    pub fn is_finished(&self) -> bool {
        self.delivered() == self.packages.len()
    }

    /// Performs an action. An impossible action changes nothing.
    pub fn perform(&mut self, action: Action) -> Result<(), ActionError> {
        match action {
            Action::Load { package, area } => {
                if area >= self.task.areas {
                    return Err(ActionError::Unknown);
                }
                if self.location(package)? != PackageLocation::At(self.at) {
                    return Err(ActionError::NotHere(package));
                }
                // The area itself, and those between it and the door.
                self.check_free(0..=area)?;
                self.packages[package] = PackageLocation::In(area);
            }
            Action::Unload { package } => {
                let PackageLocation::In(area) = self.location(package)? else {
                    return Err(ActionError::NotLoaded(package));
                };
                // Only those between it and the door: the package itself is in the area.
                self.check_free(0..area)?;
                self.packages[package] = PackageLocation::At(self.at);
            }
            Action::Drive { to } if to >= self.task.places.len() => return Err(ActionError::Unknown),
            Action::Drive { to } if to == self.at => return Err(ActionError::AlreadyThere(to)),
            Action::Drive { to } => (self.at, self.hour) = (to, self.hour + 1),
            Action::Deliver { package } => {
                if self.location(package)? != PackageLocation::At(self.at) {
                    return Err(ActionError::NotHere(package));
                }
                if self.task.packages[package].to != self.at {
                    return Err(ActionError::WrongPlace(package));
                }
                self.packages[package] = PackageLocation::Delivered(self.hour);
            }
            Action::Done => {}
        }
        Ok(())
    }

    fn location(&self, package: usize) -> Result<PackageLocation, ActionError> {
        self.packages.get(package).copied().ok_or(ActionError::Unknown)
    }

    fn check_free(&self, areas: impl IntoIterator<Item = usize>) -> Result<(), ActionError> {
        let blocked = areas.into_iter().find_map(|area| Some(ActionError::Blocked { by: self.in_area(area)?, area }));
        blocked.map_or(Ok(()), Err)
    }

    /// All actions that are possible now.
    pub fn possible_actions(&self) -> Vec<Action> {
        let packages = 0..self.packages.len();
        let loads =
            packages.clone().flat_map(|p| (0..self.task.areas).map(move |area| Action::Load { package: p, area }));
        let others = packages.flat_map(|package| [Action::Unload { package }, Action::Deliver { package }]);
        let drives = (0..self.task.places.len()).map(|to| Action::Drive { to });
        let all = loads.chain(others).chain(drives).chain([Action::Done]);
        all.filter(|action| self.clone().perform(*action).is_ok()).collect()
    }

    /// The state in words, for the prompt of the driver.
    pub fn describe(&self) -> String {
        let place = |at: usize| self.task.places[at];
        let areas = (0..self.task.areas).map(|area| match self.in_area(area) {
            Some(package) => format!("a{} holds p{}", area + 1, package + 1),
            None => format!("a{} is free", area + 1),
        });
        let areas: Vec<String> = areas.collect();
        let mut lines = vec![format!("Hour {}. The truck is at {}; {}.", self.hour, place(self.at), areas.join(", "))];
        lines.extend(self.packages.iter().enumerate().map(|(i, where_)| match where_ {
            PackageLocation::At(at) => format!("p{} lies at {}.", i + 1, place(*at)),
            PackageLocation::In(area) => format!("p{} is in a{}.", i + 1, area + 1),
            PackageLocation::Delivered(hour) => format!("p{} was delivered in hour {hour}.", i + 1),
        }));
        lines.join("\n")
    }
}

impl Action {
    /// The action in words, as in prompts and answers.
    pub fn describe(self, task: &Task) -> String {
        match self {
            Self::Load { package, area } => format!("load p{} into a{}", package + 1, area + 1),
            Self::Unload { package } => format!("unload p{}", package + 1),
            Self::Drive { to } => format!("drive to {}", task.places.get(to).copied().unwrap_or("nowhere")),
            Self::Deliver { package } => format!("deliver p{}", package + 1),
            Self::Done => "done".to_owned(),
        }
    }
}

impl fmt::Display for ActionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotHere(package) => write!(f, "p{} does not lie where the truck is", package + 1),
            Self::NotLoaded(package) => write!(f, "p{} is not in the truck", package + 1),
            Self::Blocked { by, area } => write!(f, "p{} stands in a{}", by + 1, area + 1),
            Self::AlreadyThere(_) => f.write_str("the truck is there already"),
            Self::WrongPlace(package) => write!(f, "p{} does not go to this place", package + 1),
            Self::Unknown => f.write_str("there is no such package, area or place"),
        }
    }
}
