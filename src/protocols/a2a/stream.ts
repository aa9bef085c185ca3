import type { TaskState } from '../../../machines/a2a-task.ts';
import { createEventStream, type EventStream } from '../../http/sse.ts';
import { A2aError, errorBody } from './errors.ts';
import type { Task } from './model.ts';
import type { Follower } from './task-feed.ts';

/**
 * One reader of a task (a2a.md 10). It receives the task first, then its events, until a state that ends the stream.
 * Events before `open` are held back. The server disconnects a reader that is too slow.
 */
export type TaskStream = {
  readonly stream: EventStream;
  readonly follower: Omit<Follower, 'at'>;
  /** Writes the task and the held events. */
  open(task: Task): void;
};

/** Buffering proxies would never release this response. */
const HEADERS = { 'x-accel-buffering': 'no' };

export const createTaskStream = (ends: (state: TaskState) => boolean): TaskStream => {
  const stream = createEventStream({ headers: HEADERS });
  let held: (() => void)[] | undefined = [];
  let shown: TaskState | undefined;

  const write = (json: string): void => stream.write(`data: ${json}\n\n`);

  const show = (state: TaskState, json: () => string): void => {
    if (state === shown) return;
    shown = state;
    write(json());
    if (ends(state)) stream.end();
  };

  const act = (action: () => void): void => {
    if (held) held.push(action);
    else action();
  };

  return {
    stream,
    follower: {
      pieces: true,
      take: (event, json) =>
        act(
          'statusUpdate' in event ? () => show(event.statusUpdate.status.state, json) : () => write(json()),
        ),
      fail: () => act(() => fail(stream)),
    },
    open(task) {
      shown = task.status.state;
      write(JSON.stringify({ task }));
      const waiting = held ?? [];
      held = undefined;
      for (const action of waiting) action();
    },
  };
};

const fail = (stream: EventStream): void => {
  const body = errorBody(new A2aError(500, 'INTERNAL', 'the task can no longer be followed'));
  stream.write(`event: error\ndata: ${JSON.stringify(body)}\n\n`);
  stream.end();
};
