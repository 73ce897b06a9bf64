//! Algorithms that are a little smaller than a given one, for the smallest that shows a difference.
#![allow(unreachable_pub, clippy::unwrap_used, reason = "a test fails where its own preparation does")]

use super::pluscal_random::{Algorithm, Kind, Statement, Variable, inner_mut};

impl Algorithm {
    /// Algorithms with one thing less, the larger cuts first.
    pub fn smaller(&self) -> Vec<Algorithm> {
        let mut found = Vec::new();
        let mut cut = |change: &dyn Fn(&mut Algorithm)| {
            let mut copy = self.clone();
            change(&mut copy);
            found.push(copy);
        };
        for at in 0..self.processes.len() {
            if self.processes.len() > 1 {
                cut(&|a| drop(a.processes.remove(at)));
            }
            if !self.processes[at].fairness.is_empty() {
                cut(&|a| a.processes[at].fairness = "");
            }
        }
        for at in 0..self.procedures.len() {
            cut(&|a| drop(a.procedures.remove(at)));
        }
        for at in 0..self.macros.len() {
            cut(&|a| drop(a.macros.remove(at)));
        }
        let skip = || vec![Statement { label: None, kind: Kind::Skip }];
        let empty = |body: &[Statement]| matches!(body, [Statement { label: None, kind: Kind::Skip }]);
        for at in 0..self.clone().bodies_mut().len() {
            if !empty(self.clone().bodies_mut()[at]) {
                cut(&|a| *a.bodies_mut()[at] = skip());
            }
        }
        for list in 0..self.clone().variables_mut().len() {
            if !self.clone().variables_mut()[list].is_empty() {
                cut(&|a| a.variables_mut()[list].clear());
            }
        }
        if !self.define.is_empty() {
            cut(&|a| a.define.clear());
        }
        if self.option.is_some() {
            cut(&|a| a.option = None);
        }
        if self.fair {
            cut(&|a| a.fair = false);
        }
        if self.layout != 0 {
            cut(&|a| a.layout = 0);
        }
        for list in 0..self.clone().variables_mut().len() {
            for at in 0..self.clone().variables_mut()[list].len() {
                cut(&|a| drop(a.variables_mut()[list].remove(at)));
                let plain = Some(("=", "0".to_owned()));
                if self.clone().variables_mut()[list][at].value != plain {
                    cut(&|a| a.variables_mut()[list][at].value.clone_from(&plain));
                }
            }
        }
        for body in 0..self.clone().bodies_mut().len() {
            for (at, _) in places(self.clone().bodies_mut()[body]).iter().enumerate() {
                for way in 0..5 {
                    let mut copy = self.clone();
                    let list = places(copy.bodies_mut()[body])[at].clone();
                    if shrink_at(copy.bodies_mut()[body], &list, way) {
                        found.push(copy);
                    }
                }
            }
            let texts = texts_mut(self.clone().bodies_mut()[body]).len();
            for at in 0..texts {
                let mut copy = self.clone();
                let mut bodies = copy.bodies_mut();
                let mut all = texts_mut(bodies[body]);
                if all[at].len() > 1 {
                    "1".clone_into(all[at]);
                    drop(all);
                    found.push(copy);
                }
            }
        }
        found
    }

    fn variables_mut(&mut self) -> Vec<&mut Vec<Variable>> {
        let mut all = vec![&mut self.variables];
        for procedure in &mut self.procedures {
            all.push(&mut procedure.parameters);
            all.push(&mut procedure.variables);
        }
        all.extend(self.processes.iter_mut().map(|p| &mut p.variables));
        all
    }

    fn bodies_mut(&mut self) -> Vec<&mut Vec<Statement>> {
        let mut all: Vec<_> = self.macros.iter_mut().map(|m| &mut m.body).collect();
        all.extend(self.procedures.iter_mut().map(|p| &mut p.body));
        all.extend(self.processes.iter_mut().map(|p| &mut p.body));
        all.push(&mut self.body);
        all
    }
}

/// The way to each statement: its place in its list, the number of the list inside, and so on.
fn places(body: &mut [Statement]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    for (at, statement) in body.iter_mut().enumerate() {
        found.push(vec![at]);
        for (list, inner) in inner_mut(&mut statement.kind).into_iter().enumerate() {
            found.extend(places(inner).into_iter().map(|rest| [vec![at, list], rest].concat()));
        }
    }
    found
}

fn shrink_at(body: &mut Vec<Statement>, way: &[usize], how: usize) -> bool {
    if let [at, list, rest @ ..] = way {
        return shrink_at(inner_mut(&mut body[*at].kind)[*list], rest, how);
    }
    let at = way[0];
    let label = body[at].label.clone();
    match how {
        0 if body.len() > 1 => drop(body.remove(at)),
        1 if !inner_mut(&mut body[at].kind).is_empty() => {
            let mut inside = std::mem::take(inner_mut(&mut body[at].kind)[0]);
            if let (Some(first), Some(label)) = (inside.first_mut(), label) {
                first.label.get_or_insert(label);
            }
            body.splice(at..=at, inside);
        }
        2 => match &mut body[at].kind {
            Kind::If(_, otherwise @ Some(_)) => *otherwise = None,
            Kind::If(branches, None) if branches.len() > 1 => drop(branches.pop()),
            Kind::Either(branches) if branches.len() > 2 => drop(branches.pop()),
            Kind::Assign(parts) if parts.len() > 1 => drop(parts.pop()),
            Kind::With(bindings, _) if bindings.len() > 1 => drop(bindings.pop()),
            _ => return false,
        },
        3 if !matches!(body[at].kind, Kind::Skip) => body[at].kind = Kind::Skip,
        4 if label.is_some() => body[at].label = None,
        _ => return false,
    }
    true
}

/// Every expression.
fn texts_mut(body: &mut [Statement]) -> Vec<&mut String> {
    let mut all = Vec::new();
    for statement in body {
        match &mut statement.kind {
            Kind::Assign(parts) => all.extend(parts.iter_mut().map(|(_, right)| right)),
            Kind::Says(_, text) => all.push(text),
            Kind::Call(_, arguments) | Kind::Macro(_, arguments) => all.extend(arguments),
            Kind::If(branches, otherwise) => {
                for (test, body) in branches {
                    all.push(test);
                    all.extend(texts_mut(body));
                }
                all.extend(otherwise.iter_mut().flat_map(|body| texts_mut(body)));
            }
            Kind::Either(branches) => all.extend(branches.iter_mut().flat_map(|body| texts_mut(body))),
            Kind::While(text, body) => {
                all.push(text);
                all.extend(texts_mut(body));
            }
            Kind::With(bindings, body) => {
                all.extend(bindings.iter_mut().map(|(_, _, value)| value));
                all.extend(texts_mut(body));
            }
            Kind::Skip | Kind::Return | Kind::Goto(_) => {}
        }
    }
    all
}
