import type { Tool } from '../tools/tool.ts';
import type { Connection } from './connection.ts';
import type { LeftOut } from './left-out.ts';
import type { ToolDefinition } from './listing.ts';
import { changedAt, reviewTools, type ToolChange, type ToolRecords } from './pins.ts';
import { type Call, toolsOf } from './tools.ts';

/**
 * What agents are offered of a server: its definitions without those that cannot be used, and without those that are
 * held back until an operator accepts them (`pin_tools`).
 */
export type Offer = {
  /** Of the listing that it was made from. */
  readonly of: Connection['definitions'];
  readonly offered: readonly ToolDefinition[];
  readonly tools: readonly Tool[];
  readonly leftOut: readonly LeftOut[];
  /** Why an entry that is being written is refused. */
  readonly refusals: readonly string[];
  readonly records: ToolRecords;
  /** Not in the audit log yet. */
  readonly changes: readonly ToolChange[];
};

export const emptyOffer = (connection: Connection): Offer => ({
  of: connection.definitions,
  offered: [],
  tools: [],
  leftOut: [],
  refusals: [],
  records: {},
  changes: [],
});

/** @param before records of earlier listings; undefined when there was none */
export const makeOffer = (connection: Connection, before: ToolRecords | undefined, call: Call): Offer => {
  const { definitions, spec, deps } = connection;
  const { records, changes } = reviewTools(before, definitions, deps.clock.now());
  const isHeld = ({ name }: ToolDefinition): boolean =>
    spec.pin_tools && records[name]?.pending !== undefined;
  const held = definitions.filter(isHeld).map(({ name }) => ({ name, reason: HELD }));
  const { tools, offered, leftOut, refusals } = toolsOf(
    connection,
    definitions.filter((definition) => !isHeld(definition)),
    { call, changedAt: (name) => changedAt(records, name) },
  );
  return {
    of: definitions,
    offered,
    tools,
    leftOut: [...connection.unusable, ...leftOut, ...held],
    refusals,
    records,
    changes,
  };
};

const HELD = 'its definition has changed or is new, and is not accepted yet';
