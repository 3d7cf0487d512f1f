//! What libtoolcore and the crate `jsonschema` say, and what libtoolcore must say of itself.

use toolcore::schema::{
    CheckError, CheckOptions, CompileOptions, Draft, NoReport, Schema, SchemaError, SchemaErrorKind, compile,
    program_size,
};

use super::json::Json;
use super::random::Random;

/// A schema as libtoolcore compiled it.
pub(crate) struct Ours {
    text: String,
    /// Compiled in exactly the memory that was measured, and in plenty.
    programs: [Vec<u8>; 2],
}

impl Ours {
    pub(crate) fn new(text: String, draft7: bool, formats: bool) -> Result<Ours, SchemaError> {
        let options = options(draft7, formats);
        let size = program_size(&text, &options)?;
        let in_memory = |size: usize| -> Result<Vec<u8>, SchemaError> {
            let mut memory = vec![0xA5; size];
            let used = compile(&text, &options, &mut memory)?;
            memory.truncate(used);
            Ok(memory)
        };
        let programs = [in_memory(size)?, in_memory(3 * size + 1000)?];
        if programs[0].len() == size {
            let error = in_memory(size - 1).unwrap_err();
            assert_eq!(error.kind, SchemaErrorKind::NoSpace { need: size }, "{text}");
        }
        Ok(Ours { text, programs })
    }

    /// Compiled once only, which is quicker.
    pub(crate) fn once(text: String, draft7: bool, formats: bool) -> Result<Ours, SchemaError> {
        let options = options(draft7, formats);
        let mut memory = vec![0; program_size(&text, &options)?];
        compile(&text, &options, &mut memory)?;
        Ok(Ours { text, programs: [memory, Vec::new()] })
    }

    /// Nothing if the schema applies itself so often that the steps run out.
    pub(crate) fn verdict(&self, instance: &str) -> Option<bool> {
        let options = CheckOptions::default();
        match self.run(0, instance, options.steps, self.words()) {
            Err(CheckError::StepLimit) => None,
            found => Some(found.unwrap_or_else(|error| panic!("{} on {instance}: {error}", self.text))),
        }
    }

    /// Work memory that is enough.
    fn words(&self) -> usize {
        Schema::new(&self.text, &self.programs[0]).work_words(&CheckOptions::default())
    }

    fn run(&self, program: usize, instance: &str, steps: u32, words: usize) -> Result<bool, CheckError> {
        let schema = Schema::new(&self.text, &self.programs[program]);
        let options = CheckOptions { steps, ..CheckOptions::default() };
        let verdict = schema.check(instance.as_bytes(), &options, &mut vec![0xA5; words], &mut NoReport)?;
        assert_eq!(verdict.valid, verdict.problems == 0);
        Ok(verdict.valid)
    }

    /// However little it is given, and however the same instance is written, the verdict stays the same.
    pub(crate) fn keeps_to(&self, verdict: bool, instance: &Json, random: &mut Random) {
        let (text, words, enough) = (instance.plain(), self.words(), u32::MAX);
        let other = instance.spelled(random);
        assert_eq!(self.run(0, &other, enough, words), Ok(verdict), "{} on {text} and {other}", self.text);
        if self.programs[0] != self.programs[1] {
            assert_eq!(self.run(1, &text, enough, words), Ok(verdict), "{} on {text}", self.text);
        }
        let steps = random.below(40) as u32;
        match self.run(0, &text, steps, words) {
            Err(CheckError::StepLimit) => {}
            found => assert_eq!(found, Ok(verdict), "{} on {text} in {steps} steps", self.text),
        }
        let fewer = random.below(words + 1);
        match self.run(0, &text, enough, fewer) {
            Err(CheckError::NoWork { need }) => {
                assert!(need > fewer && need <= words, "{} on {text}", self.text)
            }
            found => assert_eq!(found, Ok(verdict), "{} on {text} in {fewer} words", self.text),
        }
    }
}

fn options(draft7: bool, formats: bool) -> CompileOptions {
    let default_draft = if draft7 { Draft::Draft7 } else { Draft::Draft2020 };
    CompileOptions { default_draft, formats, ..CompileOptions::default() }
}

/// A schema as the crate compiled it.
pub(crate) struct Theirs(jsonschema::Validator);

impl Theirs {
    pub(crate) fn new(text: &str, draft7: bool, formats: bool) -> Result<Theirs, String> {
        let draft = if draft7 { jsonschema::Draft::Draft7 } else { jsonschema::Draft::Draft202012 };
        let schema: serde_json::Value = serde_json::from_str(text).unwrap();
        let named = schema.get("$schema").is_some();
        let options = jsonschema::options();
        let options = if named { options } else { options.with_draft(draft) };
        let built = options
            .without_content_encoding_support("base64")
            .should_validate_formats(formats)
            .build(&schema);
        built.map(Theirs).map_err(|error| error.to_string())
    }

    pub(crate) fn verdict(&self, instance: &str) -> bool {
        self.0.is_valid(&serde_json::from_str(instance).unwrap())
    }
}
