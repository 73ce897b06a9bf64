//! Single steps of a compiled specification, for searches that keep the states themselves.

use tla_mc::eval::{Bufs, Engine as _, Program};
use tla_mc::value::Value;

pub(super) type State = Box<[Value]>;

/// The states after a state. A state can be there several times.
///
/// # Errors
/// What cannot be evaluated, in the words of the checker.
pub(super) fn next_states(program: &Program, state: &[Value]) -> Result<Vec<State>, String> {
    let mut found = Vec::new();
    let mut buffers = Bufs::default();
    let mut cx = buffers.cx(state, program.vars.len(), program.next.frame);
    program.next(&mut cx, &mut |cx| {
        let values: Option<State> = cx.next.iter().cloned().collect();
        found.push(values.ok_or("a step of Next leaves a variable unassigned")?);
        Ok(())
    })?;
    Ok(found)
}

/// Whether a state satisfies all constraints.
///
/// # Errors
/// What cannot be evaluated, in the words of the checker.
pub(super) fn is_inside(program: &Program, state: &[Value], buffers: &mut Bufs) -> Result<bool, String> {
    for (index, constraint) in program.constraints.iter().enumerate() {
        let mut cx = buffers.cx(state, program.vars.len(), constraint.frame);
        if !program.constraint(index, &mut cx)? {
            return Ok(false);
        }
    }
    Ok(true)
}
