import type { Reply } from '../../http/reply.ts';
import type { PushConfig } from '../../protocols/a2a/push/config.ts';

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

/** What the send routes need for `configuration.taskPushNotificationConfig`. */
export type InlinePush = {
  /**
   * Before the effect of the request. `tenant`: the one of the path, or the selector in the body.
   * @throws A2aError 400, with all violations
   */
  check(config: unknown, enclosing: { task_id: string; tenant: string | undefined }): PushConfig;
  /** Once the task is there to be watched. Resolves when the config is stored and its first event queued. */
  add(scope: string, task_id: string, tenant: string | undefined, config: PushConfig): Promise<void>;
};
