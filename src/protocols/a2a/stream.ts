import type { TaskState } from '../../../machines/a2a-task.ts';
import { createEventStream, type EventStream } from '../../http/sse.ts';
import type { Reading } from '../../schema/reader.ts';
import { A2aError, errorBody } from './errors.ts';
import type { Task } from './model.ts';
import type { Follower } from './task-feed.ts';

/**
 * One reader of a task (a2a.md 10). It receives the task first, then its events, until a state that ends the stream.
 * Events before `open` are held back. The server disconnects a reader that is too slow.
 */
export type TaskStream = {
  readonly follower: Omit<Follower, 'at'>;
  /** Creates the stream, with the task and the held events. Called once. */
  open(task: Task, reading: Reading): EventStream;
};

/** Buffering proxies would never release this response. */
const HEADERS = { 'x-accel-buffering': 'no' };

export const createTaskStream = (ends: (state: TaskState) => boolean): TaskStream => {
  let stream: EventStream | undefined;
  const held: ((stream: EventStream) => void)[] = [];
  let shown: TaskState | undefined;

  const show = (to: EventStream, state: TaskState, json: () => string): void => {
    if (state === shown) return;
    shown = state;
    write(to, json());
    if (ends(state)) to.end();
  };

  const act = (action: (stream: EventStream) => void): void => {
    if (stream) action(stream);
    else held.push(action);
  };

  return {
    follower: {
      pieces: true,
      take: (event, json) =>
        act(
          'statusUpdate' in event
            ? (to) => show(to, event.statusUpdate.status.state, json)
            : (to) => write(to, json()),
        ),
      fail: () => act(fail),
    },
    open(task, reading) {
      const opened = createEventStream({ headers: HEADERS, reading });
      shown = task.status.state;
      write(opened, JSON.stringify({ task }));
      stream = opened;
      for (const action of held.splice(0)) action(opened);
      return opened;
    },
  };
};

const write = (stream: EventStream, json: string): void => stream.write(`data: ${json}\n\n`);

const fail = (stream: EventStream): void => {
  const body = errorBody(new A2aError(500, 'INTERNAL', 'the task can no longer be followed'));
  stream.write(`event: error\ndata: ${JSON.stringify(body)}\n\n`);
  stream.end();
};
