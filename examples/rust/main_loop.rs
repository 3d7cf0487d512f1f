//! The main loop of [`examples/c/main_loop.c`](../c/main_loop.c) over the core alone: a device whose LED answers at
//! once, its sensor when the samples are taken, and its valve never. It prints the same lines.

use std::cell::Cell;
use std::error::Error;
use std::task::Poll;

use toolcore::call::Ticket;
use toolcore::dialect::{ReplyOptions, parse_reply};
use toolcore::inflight::{InFlight, Slot};
use toolcore::prelude::*;
use toolcore::tool::Cancel;
use toolcore::turn::{Entry, Event, EventKind, Runtime, Turn, serve};

const SAMPLES: u64 = 3;
const SAMPLE: u64 = 100;

/// The device: what its interrupts and its main loop share. The ticks are those of a timer, simulated.
#[derive(Default)]
struct Device {
    ticks: Cell<u64>,
    led: Cell<bool>,
    /// Whose call the sensor samples for, when the next sample is there, and how many there are.
    sensor: Cell<Option<(Ticket, u64, u64)>>,
}

impl Clock for Device {
    fn now(&self) -> Instant {
        Instant::from_millis(self.ticks.get())
    }
}

impl Device {
    /// A device sets its timer and waits for an interrupt: that one, or that of the sensor.
    fn sleep_until(&self, at: Option<Instant>) {
        let due = self.sensor.get().map(|(_, due, _)| due);
        let first = at.map(Instant::as_millis).into_iter().chain(due).min();
        self.ticks.set(first.unwrap_or(self.ticks.get()));
    }
}

/// The tools: one that answers at once, two that answer later.
enum Tool<'d> {
    SetLed(&'d Device),
    Measure(&'d Device),
    OpenValve,
}

impl Handler for Tool<'_> {
    fn run(&self, call: &Call<'_>, result: &mut ToolResult<'_>) -> Poll<Result<(), Failure>> {
        match self {
            Tool::SetLed(device) => {
                device.led.set(call.args.bool("on")?);
                result.text(if device.led.get() { "on" } else { "off" })?;
                Poll::Ready(Ok(()))
            }
            Tool::Measure(device) if device.sensor.get().is_some() => {
                Poll::Ready(Err("the sensor is in use".into()))
            }
            Tool::Measure(device) => {
                device.sensor.set(call.ticket().map(|ticket| (ticket, device.ticks.get() + SAMPLE, 0)));
                Poll::Pending
            }
            // The motor runs; the ticket is for the switch.
            Tool::OpenValve => Poll::Pending,
        }
    }

    fn cancel(&self, ticket: Ticket) -> Cancel {
        match self {
            Tool::Measure(device) => {
                device.sensor.set(device.sensor.get().filter(|(waits, ..)| *waits != ticket));
                // Nothing will use the ticket.
                Cancel::Ended
            }
            // The switch may still tell, until the grace period is over.
            _ => Cancel::Later,
        }
    }
}

const MESSAGE: &str = r#"{"role":"assistant","content":[
    {"type":"tool_use","id":"toolu_1","name":"set_led","input":{"on":true}},
    {"type":"tool_use","id":"toolu_2","name":"measure","input":{}},
    {"type":"tool_use","id":"toolu_3","name":"open_valve","input":{}}]}"#;

fn log(event: &Event<'_>) {
    print!("{:4} ms: call {}", event.at.as_millis(), event.index + 1);
    if let Some(call) = event.call {
        print!(" ({})", call.name);
    }
    match event.kind {
        EventKind::Progress { done, total } => println!(": progress, {done} of {total}"),
        kind => println!(": {}", kind.name().replace('_', " ")),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::default();
    let mut memory = RegistryMemory::<Tool<'_>, 3, 1024>::new();
    let mut tools = memory.registry(RegistryOptions::default());
    let on = [ToolParameter::boolean("on")];
    let bounded = |name, millis| ToolDefinition {
        name,
        timeout: Some(Duration::from_millis(millis)),
        ..ToolDefinition::default()
    };
    let set_led = ToolDefinition {
        name: "set_led",
        parameters: Parameters::Declared(&on),
        ..ToolDefinition::default()
    };
    tools.add(&set_led, Tool::SetLed(&device))?;
    tools.add(&bounded("measure", 2000), Tool::Measure(&device))?;
    tools.add(&bounded("open_valve", 500), Tool::OpenValve)?;

    let options = AnswerOptions { clock: Some(&device), ..AnswerOptions::default() };
    let mut slots: [Slot; 4] = Default::default();
    let mut inflight = InFlight::new(&mut slots, Duration::from_millis(200));
    let (mut words, mut bytes, mut entries) = ([0; 128], [0; 4096], [Entry::default(); 4]);
    let scratch = Scratch::new(&mut words, &mut bytes);

    // A reply came in: its calls begin at the first poll.
    let (reply, scratch) =
        parse_reply(Dialect::Anthropic, MESSAGE.as_bytes(), ReplyOptions::default(), scratch)?;
    let mut turn = Some(Turn::new(reply, &mut inflight, &mut entries, scratch)?);
    let mut watch = log;
    let mut with =
        Runtime { registry: &tools, inflight: &mut inflight, options: &options, watch: &mut watch };
    loop {
        // What the sensor's interrupt brought. Late or double completions are harmless, so that errors are let go.
        if let (Some(turn), Some((ticket, due, samples))) = (&mut turn, device.sensor.get())
            && due <= device.ticks.get()
        {
            let samples = samples + 1;
            if samples < SAMPLES {
                turn.progress(&mut with, ticket, device.now(), (samples, SAMPLES), "").ok();
                device.sensor.set(Some((ticket, due + SAMPLE, samples)));
            } else {
                turn.complete_with(&mut with, ticket, device.now(), |result| {
                    result.text("21.5 C").ok();
                })
                .ok();
                device.sensor.set(None);
            }
        }
        let next = match &mut turn {
            Some(turn) => turn.poll(&mut with, device.now())?,
            None => serve(&mut with, device.now()),
        };
        // Every call has its result: they go to the model.
        if turn.as_ref().is_some_and(Turn::is_done)
            && let Some(mut done) = turn.take()
        {
            let mut out = [0; 2048];
            let mut sink = Sink::new(&mut out);
            done.finish(&mut with, device.now(), &mut sink)?;
            println!("append: {}", sink.finish()?);
        }
        if next.is_none() && turn.is_none() {
            return Ok(()); // a device sleeps on, until the next reply comes in
        }
        device.sleep_until(next);
    }
}
