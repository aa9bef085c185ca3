import type { Reply } from '../../http/reply.ts';

/**
 * A request to one of the routes of A2A, after everything that they have in common was checked: version, path,
 * content type, size, JSON (a2a.md 3). Whatever a handler throws is answered in the form of A2A.
 */
export type A2aRequest = {
  scope: string;
  /** The leading segment of the path; not looked up yet. */
  tenant: string | undefined;
  /** Of the first `name` in the query, where keys are taken as they are. */
  query(name: string): string | undefined;
  /** Parsed; undefined where a route takes none. */
  body: unknown;
  header(name: string): string | undefined;
  /** The answer may take long by design: from now on the request does not count as a concurrent one. */
  hold(): void;
};

/** A value is answered as 200; a `Reply` as it is; an event stream as one. */
export type A2aAnswer = unknown | Reply;

export type TaskHandlers = {
  send(request: A2aRequest): A2aAnswer;
  stream(request: A2aRequest): A2aAnswer;
  list(request: A2aRequest): A2aAnswer;
  get(request: A2aRequest, task_id: string): A2aAnswer;
  cancel(request: A2aRequest, task_id: string): A2aAnswer;
  subscribe(request: A2aRequest, task_id: string): A2aAnswer;
};

export type PushHandlers = {
  create(request: A2aRequest, task_id: string): A2aAnswer;
  list(request: A2aRequest, task_id: string): A2aAnswer;
  get(request: A2aRequest, task_id: string, config_id: string): A2aAnswer;
  remove(request: A2aRequest, task_id: string, config_id: string): A2aAnswer;
};
