import type { Keyed } from '../../http/keyed.ts';
import type { Reply } from '../../http/reply.ts';
import type { JsonObject } from '../../schema/json.ts';
import type { Principal } from '../../schema/principal.ts';

/**
 * A request to a route of A2A after the common checks: version, path, content type, size and JSON (a2a.md 3). Errors
 * that a handler throws are sent in the form of A2A.
 */
export type A2aRequest = {
  principal: Principal;
  /** The origin of the request, for the access log. */
  from: { ip: string; route: string };
  /** The part of the scope that is the caller's own. */
  scope: string;
  /** The leading segment of the path, not resolved yet. */
  tenant: string | undefined;
  /** Returns the first value of `name` in the query. Keys match exactly. */
  query(name: string): string | undefined;
  /** The parsed body; undefined if the route takes none. */
  body: unknown;
  header(name: string): string | undefined;
  /** Returns the origin under which the client reaches this service. */
  origin(): string;
  /** Set if the client may repeat the request. */
  keyed: Keyed | undefined;
  /** Releases the concurrency slot of a request whose response takes long by design. */
  hold(): void;
};

/** A value becomes a 200; a `Reply` or an event stream is sent as it is. */
export type A2aAnswer = unknown | Reply;

export type TaskHandlers = {
  send(request: A2aRequest): A2aAnswer;
  stream(request: A2aRequest): A2aAnswer;
  /** Respond to a repeated request from what its acceptance has stored. */
  sendAgain(request: A2aRequest, created: JsonObject): A2aAnswer;
  streamAgain(request: A2aRequest, created: JsonObject): A2aAnswer;
  list(request: A2aRequest): A2aAnswer;
  get(request: A2aRequest, task_id: string): A2aAnswer;
  cancel(request: A2aRequest, task_id: string): A2aAnswer;
  subscribe(request: A2aRequest, task_id: string): A2aAnswer;
};

export type PushHandlers = {
  create(request: A2aRequest, task_id: string): A2aAnswer;
  /** Responds to a repeated request from what its acceptance has stored. */
  createAgain(request: A2aRequest, created: JsonObject): A2aAnswer;
  list(request: A2aRequest, task_id: string): A2aAnswer;
  get(request: A2aRequest, task_id: string, config_id: string): A2aAnswer;
  remove(request: A2aRequest, task_id: string, config_id: string): A2aAnswer;
};
