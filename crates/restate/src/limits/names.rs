//! The names of the service and of its objects.

/// The service of the objects. All versions of a program share it; the number changes with the messages or the state. With a
/// dot, because a hyphen follows in the names of services of jobs.
pub(crate) fn limits_service_name(program: &str) -> String {
    format!("{program}.limits-1")
}

/// Whether a name can be the key of an object and a part of an address and of a query.
pub(super) fn is_key_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}
