//! `drop(user_data)` runs exactly once, whatever became of it.

use core::ffi::c_void;
use core::mem::offset_of;
use core::ptr::{self, null, null_mut};

use super::support::*;
use crate::abi::TOOLCORE_STRUCT_SIZE_MAX;
use crate::hook::*;
use crate::registry::*;
use crate::status::*;
use crate::tool::*;

/// A change to a good tool, and what adding it gives.
type Way = (&'static str, fn(&mut toolcore_tool_t), toolcore_status_t);

/// What lets a tool go.
type WayOut = (&'static str, fn(&Tools));

const WAYS_IN: &[Way] = &[
    ("added", |_| (), TOOLCORE_OK),
    ("added with static strings", |tool| tool.flags = TOOLCORE_TOOL_STATIC, TOOLCORE_OK),
    ("no name", |tool| tool.name.len = 0, TOOLCORE_ERR_BAD_NAME),
    ("a bad name", |tool| tool.name = s("a b"), TOOLCORE_ERR_BAD_NAME),
    ("a name that is nowhere", |tool| tool.name.ptr = ptr::null(), INVALID),
    (
        "a name that is not UTF-8",
        |tool| tool.name.ptr = c"\xFF\xFF\xFF\xFF".as_ptr(),
        TOOLCORE_ERR_INVALID_UTF8,
    ),
    ("a name that is taken", |tool| tool.name = s("echo"), TOOLCORE_ERR_DUPLICATE),
    ("no callback", |tool| tool.run = None, INVALID),
    ("an unknown flag", |tool| tool.flags = 16, TOOLCORE_ERR_UNSUPPORTED),
    ("an unknown annotation", |tool| tool.annotations = 256, TOOLCORE_ERR_UNSUPPORTED),
    ("annotations that exclude each other", |tool| tool.annotations = 3, INVALID),
    ("parameters that are nowhere", |tool| tool.params_len = 1, INVALID),
    ("a schema that is not JSON", |tool| tool.schema = s("{"), TOOLCORE_ERR_BAD_JSON),
    (
        "a schema that cannot be enforced",
        |tool| tool.schema = s(r#"{"type":"thing"}"#),
        TOOLCORE_ERR_BAD_SCHEMA,
    ),
    ("a schema for no object", |tool| tool.schema = s(r#"{"type":"string"}"#), TOOLCORE_ERR_BAD_SCHEMA),
    ("a bad output schema", |tool| tool.output_schema = s("7"), TOOLCORE_ERR_BAD_SCHEMA),
    (
        "a struct that is too small",
        |tool| tool.struct_size = core::mem::offset_of!(toolcore_tool_t, cancel) - 8,
        INVALID,
    ),
    ("a struct with something unknown", |tool| tool.struct_size += 8, TOOLCORE_ERR_UNSUPPORTED),
];

/// A tool, and something after it that this version does not know.
#[repr(C)]
struct Newer {
    tool: toolcore_tool_t,
    unknown: u64,
}

fn counted(drops: &Drops) -> Newer {
    let tool = toolcore_tool_t { user_data: drops.data(), drop: Some(count_drop), ..tool("tool", fail) };
    Newer { tool, unknown: 1 }
}

#[test]
fn drop_runs_once_for_each_way_in() {
    for (way, change, status) in WAYS_IN {
        let (added, nowhere) = (Drops::default(), Drops::default());
        let tools = Tools::usual();
        let mut newer = counted(&added);
        change(&mut newer.tool);
        assert_eq!(
            c!(toolcore_registry_add(tools.registry, (&raw const newer).cast(), null_mut())),
            *status,
            "{way}"
        );
        assert_eq!(added.count(), usize::from(*status != TOOLCORE_OK), "{way}");
        drop(tools);
        assert_eq!(added.count(), 1, "{way}, then the registry ended");
        // Into a registry that is NULL, or that has ended, it does not matter what else is wrong.
        newer.tool.user_data = nowhere.data();
        let status = c!(toolcore_registry_add(null_mut(), (&raw const newer).cast(), null_mut()));
        assert!(status < 0, "{way}");
        assert_eq!(nowhere.count(), 1, "{way}, into no registry");
    }
}

#[test]
fn drop_runs_once_when_the_detail_is_wrong() {
    let drops = Drops::default();
    let tools = Tools::new();
    let mut why = toolcore_detail_t { struct_size: 3, ..init() };
    assert_eq!(c!(toolcore_registry_add(tools.registry, &counted(&drops).tool, &raw mut why)), INVALID);
    assert_eq!((drops.count(), c!(toolcore_registry_len(tools.registry))), (1, 0));
}

#[test]
fn drop_runs_once_when_there_is_no_room() {
    let drops = Drops::default();
    let tools = Tools::with(&sized!(toolcore_registry_opts_t { max_tools: 1, pool_bytes: 16 }));
    assert_eq!(tools.add(&counted(&drops).tool), TOOLCORE_ERR_NO_SPACE);
    assert_eq!(drops.count(), 1);
    let tools = Tools::with(&sized!(toolcore_registry_opts_t { max_tools: 1, pool_bytes: 4096 }));
    assert_eq!(tools.add(&tool("first", fail)), TOOLCORE_OK);
    assert_eq!(tools.add(&counted(&drops).tool), TOOLCORE_ERR_FULL);
    assert_eq!(drops.count(), 2);
}

#[test]
fn drop_runs_once_for_each_way_out() {
    let ways: [WayOut; 3] = [
        ("removed", |tools| {
            assert_eq!(c!(toolcore_registry_remove(tools.registry, s("tool"))), TOOLCORE_OK);
            assert_eq!(c!(toolcore_registry_remove(tools.registry, s("tool"))), TOOLCORE_ERR_NOT_FOUND);
        }),
        ("replaced", |tools| assert_eq!(tools.add(&tool("tool", fail)), TOOLCORE_OK)),
        ("the registry ended", |tools| c!(toolcore_registry_deinit(tools.registry))),
    ];
    for (way, out) in ways {
        let drops = Drops::default();
        let opts = sized!(toolcore_registry_opts_t { max_tools: 2, collision: TOOLCORE_COLLISION_REPLACE });
        let tools = Tools::with(&opts);
        assert_eq!(tools.add(&counted(&drops).tool), TOOLCORE_OK);
        assert_eq!(drops.count(), 0, "{way}");
        out(&tools);
        assert_eq!(drops.count(), 1, "{way}");
        // It ends for the second time here.
        drop(tools);
        assert_eq!(drops.count(), 1, "{way}, then the registry ended");
    }
}

#[test]
fn a_replacement_that_fails_keeps_the_old_tool() {
    let (old, new) = (Drops::default(), Drops::default());
    let tools = Tools::with(&sized!(toolcore_registry_opts_t { collision: TOOLCORE_COLLISION_REPLACE }));
    assert_eq!(tools.add(&counted(&old).tool), TOOLCORE_OK);
    let bad = toolcore_tool_t { schema: s("1"), ..counted(&new).tool };
    assert_eq!(tools.add(&bad), TOOLCORE_ERR_BAD_SCHEMA);
    assert_eq!((old.count(), new.count()), (0, 1));
    assert_eq!(c!(toolcore_registry_len(tools.registry)), 1);
}

#[test]
fn drop_runs_once_for_each_way_of_a_hook() {
    let drops = Drops::default();
    let mut hook = sized!(toolcore_hook_t { user_data: drops.data(), drop: Some(count_drop) });
    let tools = Tools::new();
    for _ in 0..4 {
        assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_OK);
    }
    assert_eq!(drops.count(), 0);
    assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), TOOLCORE_ERR_FULL);
    assert_eq!(drops.count(), 1);
    assert_eq!(c!(toolcore_registry_add_hook(null_mut(), &hook)), INVALID);
    assert_eq!(drops.count(), 2);
    hook.struct_size += 4096;
    assert_eq!(c!(toolcore_registry_add_hook(tools.registry, &hook)), INVALID);
    assert_eq!(drops.count(), 2, "a size that is no size hands nothing over");
    drop(tools);
    assert_eq!(drops.count(), 6);
}

#[test]
fn what_was_not_handed_over_is_not_dropped() {
    let drops = Drops::default();
    let tools = Tools::new();
    assert_eq!(c!(toolcore_registry_add(tools.registry, null(), null_mut())), INVALID);
    let covers_drop = offset_of!(toolcore_tool_t, drop) + size_of::<toolcore_drop_fn>();
    for size in [0, 8, covers_drop - 1, 1 << 20] {
        let tool = toolcore_tool_t { struct_size: size, ..counted(&drops).tool };
        assert_eq!(tools.add(&tool), INVALID, "struct_size {size}");
    }
    assert_eq!(drops.count(), 0);
}

#[test]
fn the_largest_struct_hands_its_user_data_over() {
    let drops = Drops::default();
    let mut memory: std::vec::Vec<u64> = [0].repeat(TOOLCORE_STRUCT_SIZE_MAX / 4);
    let tools = Tools::new();
    let newer = memory.as_mut_ptr().cast::<toolcore_tool_t>();
    for (size, tail, expected, dropped) in [
        (TOOLCORE_STRUCT_SIZE_MAX, 0, TOOLCORE_OK, 0),
        (TOOLCORE_STRUCT_SIZE_MAX, 1, TOOLCORE_ERR_UNSUPPORTED, 1),
        (TOOLCORE_STRUCT_SIZE_MAX + 1, 0, INVALID, 1),
    ] {
        c!(newer.write(toolcore_tool_t { struct_size: size, ..counted(&drops).tool }));
        c!(newer.cast::<u8>().add(TOOLCORE_STRUCT_SIZE_MAX - 1).write(tail));
        assert_eq!(c!(toolcore_registry_add(tools.registry, newer, null_mut())), expected);
        assert_eq!(drops.count(), dropped, "struct_size {size}");
    }
    drop(tools);
    assert_eq!(drops.count(), 2);
}

#[test]
fn a_user_data_without_drop_is_left_alone() {
    let tools = Tools::new();
    let nowhere = ptr::without_provenance_mut::<c_void>(1);
    assert_eq!(tools.add(&toolcore_tool_t { user_data: nowhere, ..tool("x", fail) }), TOOLCORE_OK);
    let nothing: toolcore_drop_fn = Some(ignore);
    assert_eq!(tools.add(&toolcore_tool_t { drop: nothing, ..tool("y", fail) }), TOOLCORE_OK);
}

/// A drop function is run for a user_data that is NULL too.
unsafe extern "C" fn ignore(user_data: *mut c_void) {
    assert!(user_data.is_null());
}
