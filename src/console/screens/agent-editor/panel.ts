import type { JsonObject } from '../../data/guard.ts';
import type { Meta } from '../../data/meta.ts';
import type { Capabilities } from '../../data/resources.ts';
import type { Draft } from '../../data/spec.ts';
import type { Unread } from '../../schema-form/context.ts';
import type { Editing } from './editing.ts';

/** Properties of every panel of the editor. */
export type PanelProps = {
  draft: Draft;
  /** The agent as it was opened. */
  start: JsonObject;
  isNew: boolean;
  /** Replaces the given top-level fields of the draft and removes undefined ones. */
  change(fields: JsonObject): void;
  capabilities: Capabilities;
  /** By field, such as `max_rounds` or `sections.permission.rules.0.tool`. */
  errors: ReadonlyMap<string, string>;
  unread: Unread;
  /** Reports typed text that is not valid JSON; undefined once it is valid or removed. */
  onUnread(field: string, text: string | undefined): void;
};

export type PanelPlace = {
  editing: Editing;
  localKind: string;
  onReplace: (draft: Draft) => void;
  /** Called after a write that did not use the save bar. */
  onReopen: (spec: JsonObject, meta: Meta | undefined) => void;
  panel: PanelProps;
};
