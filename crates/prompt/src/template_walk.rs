//! What a template can do, read from its parsed form: the values that it uses, and whether it ends soon. A folder of prompts can be
//! downloaded, and the engine itself limits neither loops nor templates that include each other.

use std::collections::BTreeMap;

use handlebars::Template;
use handlebars::template::{DecoratorTemplate, HelperTemplate, Parameter, TemplateElement};
use serde_json::Value;

/// How many loops may be inside each other, those of included templates counted.
const MAX_LOOPS: usize = 2;
/// How many templates may be included one inside the other.
const MAX_INCLUDED: usize = 8;
/// How many parts a template may have with all that it includes.
const MAX_PARTS: usize = 10_000;

/// What makes a template unusable, as the end of a sentence that begins with its name; `None` if nothing does. `all` has every
/// template by name.
pub(super) fn unbounded_construct(template: &Template, all: &BTreeMap<&str, &Template>) -> Option<String> {
    let mut walk = Walk { all, parts: 0 };
    walk.template(template, 0, 0).err()
}

struct Walk<'a> {
    all: &'a BTreeMap<&'a str, &'a Template>,
    /// The parts that were met.
    parts: usize,
}

impl Walk<'_> {
    fn template(&mut self, template: &Template, loops: usize, included: usize) -> Result<(), String> {
        if included > MAX_INCLUDED {
            return Err(
                "includes templates (`{{> name}}`) that include others, perhaps itself, without an end; remove some"
                    .to_owned(),
            );
        }
        for element in &template.elements {
            self.parts += 1;
            if self.parts > MAX_PARTS {
                return Err(format!(
                    "has more than {MAX_PARTS} parts with the templates that it includes; remove some"
                ));
            }
            match element {
                TemplateElement::HelperBlock(helper) => self.block(helper, loops, included)?,
                TemplateElement::DecoratorExpression(_) | TemplateElement::DecoratorBlock(_) => {
                    return Err(
                        "defines a template inside of it (`{{#*inline}}`), which prompts may not do; remove it"
                            .to_owned(),
                    );
                }
                TemplateElement::PartialExpression(partial) | TemplateElement::PartialBlock(partial) => {
                    self.partial(partial, loops, included)?;
                }
                // Text, values and comments.
                _ => {}
            }
        }
        Ok(())
    }

    fn block(&mut self, helper: &HelperTemplate, loops: usize, included: usize) -> Result<(), String> {
        let is_loop = is_loop(helper);
        if is_loop && !matches!(helper.params.as_slice(), [Parameter::Path(_)]) {
            return Err(
                "has a loop (`{{#each}}`) over something else than a value of the request; name the value".to_owned()
            );
        }
        let inside = loops + usize::from(is_loop);
        if inside > MAX_LOOPS {
            return Err(format!("has more than {MAX_LOOPS} loops (`{{{{#each}}}}`) inside each other; remove some"));
        }
        helper.template.iter().try_for_each(|template| self.template(template, inside, included))?;
        helper.inverse.iter().try_for_each(|template| self.template(template, loops, included))
    }

    fn partial(&mut self, partial: &DecoratorTemplate, loops: usize, included: usize) -> Result<(), String> {
        let name = match &partial.name {
            Parameter::Name(name) => name.as_str(),
            Parameter::Path(handlebars::Path::Relative((_, name))) => name.as_str(),
            _ => return Err("includes a template (`{{> name}}`) that is not named; name it".to_owned()),
        };
        let Some(template) = self.all.get(name) else {
            return Err(format!("includes `{name}`, and there is no such prompt"));
        };
        self.template(template, loops, included + 1)?;
        partial.template.iter().try_for_each(|template| self.template(template, loops, included))
    }
}

fn is_loop(helper: &HelperTemplate) -> bool {
    matches!(&helper.name, Parameter::Name(name) if name == "each")
}

/// A value that the template uses outside of its loops, also in a branch that no sample takes, and that the data lacks.
pub(super) fn unknown_value(template: &Template, data: &Value) -> Option<String> {
    let is_known = |name: &str| {
        matches!(name, "this" | "else") || name.split('.').try_fold(data, |value, part| value.get(part)).is_some()
    };
    let of = |parameter: &Parameter| match parameter {
        Parameter::Path(handlebars::Path::Relative((_, name))) if !is_known(name) => Some(name.clone()),
        _ => None,
    };
    template.elements.iter().find_map(|element| match element {
        TemplateElement::HtmlExpression(value) | TemplateElement::Expression(value) if value.params.is_empty() => {
            of(&value.name)
        }
        TemplateElement::HelperBlock(helper) => {
            let is_scope = is_loop(helper) || matches!(&helper.name, Parameter::Name(name) if name == "with");
            let inner = helper.template.iter().filter(|_| !is_scope).chain(&helper.inverse);
            let mut inner = inner.filter_map(|template| unknown_value(template, data));
            helper.params.iter().find_map(of).or_else(|| inner.next())
        }
        _ => None,
    })
}
