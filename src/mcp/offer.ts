import type { Tool } from '../tools/tool.ts';
import type { Connection } from './connection.ts';
import type { LeftOut } from './left-out.ts';
import type { ToolDefinition } from './listing.ts';
import { changedAt, reviewTools, type ToolChange, type ToolRecords } from './pins.ts';
import { type Call, createTools } from './tools.ts';

/**
 * The tools of a server that agents are offered: its definitions without unusable ones, and without those that are held
 * back until an operator accepts them (`pin_tools`).
 */
export type Offer = {
  /** The listing that the offer was created from. */
  readonly of: Connection['definitions'];
  readonly offered: readonly ToolDefinition[];
  readonly tools: readonly Tool[];
  readonly leftOut: readonly LeftOut[];
  /** Reasons to reject an entry that is being written. */
  readonly refusals: readonly string[];
  readonly records: ToolRecords;
  /** Changes that are not in the audit log yet. */
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

/** @param before records of earlier listings; undefined for the first one */
export const makeOffer = (connection: Connection, before: ToolRecords | undefined, call: Call): Offer => {
  const { definitions, spec, deps } = connection;
  const { records, changes } = reviewTools(before, definitions, deps.clock.now());
  const isHeld = ({ name }: ToolDefinition): boolean =>
    spec.pin_tools && records[name]?.pending !== undefined;
  const held = definitions.filter(isHeld).map(({ name }) => ({ name, reason: HELD }));
  const { tools, offered, leftOut, refusals } = createTools(
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
