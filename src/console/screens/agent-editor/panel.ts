import type { JsonObject } from '../../data/guard.ts';
import type { Capabilities } from '../../data/resources.ts';
import type { Unread } from '../../schema-form/context.ts';

/** An agent as it is edited: what this console does not know of is kept as it is. */
export type Draft = JsonObject & { id: string };

/** What each panel of the editor is given. */
export type PanelProps = {
  draft: Draft;
  /** As it was opened. */
  start: JsonObject;
  /** The top-level fields given replace those of the draft; one that is undefined is taken out of it. */
  change(fields: JsonObject): void;
  capabilities: Capabilities;
  /** By field, such as `max_rounds` or `sections.permission.rules.0.tool`. */
  errors: ReadonlyMap<string, string>;
  unread: Unread;
  /** What is typed at a field is no JSON; undefined: it is, or is gone. */
  onUnread(field: string, text: string | undefined): void;
};

/** What the preview chat beside the panels is given: it talks to the draft as it is now. */
export type SandboxProps = {
  draft: Draft;
  /** Undefined: it was never stored, so there are no runs of it. */
  storedId: string | undefined;
};
