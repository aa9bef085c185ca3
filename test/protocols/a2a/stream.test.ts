import t from 'tap';
import type { AnyMachineSnapshot } from 'xstate';
import type { StreamResponse } from '../../../src/protocols/a2a/model.ts';
import { createTasks, type TaskService } from '../../../src/protocols/a2a/tasks.ts';
import { createChannel } from '../../../src/runtime/run/live-channel.ts';
import { activityOfBlock, blockOfPart } from '../../../src/schema/answer-part.ts';
import type { ContentBlock } from '../../../src/schema/message.ts';
import type { Run } from '../../../src/schema/run.ts';
import type { RunRecord } from '../../../src/schema/run-state.ts';
import type { Store } from '../../../src/store/index.ts';
import { settle } from '../../http/serve.ts';
import { installTime } from '../../property/time.ts';
import { storeFor } from '../../store/open.ts';
import { message, run, SCOPE, write } from '../../store/records.ts';

/** One run, moved through its states like the runtime does: stored first, then emitted, in order. */
const room = async (t: Parameters<typeof storeFor>[0]) => {
  const store = await storeFor(t);
  const time = installTime();
  t.teardown(time.uninstall);
  const actors: AnyMachineSnapshot[] = [];
  const tasks = createTasks({
    store,
    actors: {
      began(actor) {
        actors.push(actor.getSnapshot());
        actor.subscribe((snapshot) => actors.push(snapshot));
        return () => actors.push({ ...actor.getSnapshot(), value: 'gone' });
      },
    },
    log: { error: (event, fields) => t.fail(`${event}: ${JSON.stringify(fields)}`) },
  });
  /** Long enough for collected output to be emitted. */
  const pause = (): Promise<void> => time.advance(60, settle);
  const states = (): unknown[] => actors.map(({ value }) => value);
  return { store, tasks, pause, states, ...driver(store, tasks) };
};

const driver = (store: Store, tasks: TaskService) => {
  let before: RunRecord | undefined;
  let now = 1000;
  const put = async (
    fields: Partial<Run>,
    words: string[] = [],
    content?: ContentBlock[],
  ): Promise<() => void> => {
    now += 10;
    const after = run('r', fields);
    let changed_at = 0;
    await write(store, (batch) => {
      const said = content ? [content] : words.map((text) => [{ type: 'text' as const, text }]);
      said.forEach((blocks, index) => {
        const row = { ...message(`said ${index}`, 'r'), content: blocks };
        store.messages.append(batch, SCOPE, 't1', [
          { seq: now + index, message: row, created_at: 1, external: 1 },
        ]);
      });
      changed_at = store.runs.put(batch, SCOPE, after, before, now);
    });
    before = after;
    return () => tasks.runWatch.stored(SCOPE, after, changed_at);
  };
  return {
    put,
    /** Stores and emits the change. */
    move: async (...change: Parameters<typeof put>) => (await put(...change))(),
    /** `said`: the existing text of the current completion when a subscriber joins. */
    begin(said = '') {
      const channel = createChannel({ held: false });
      const soFar = (): ContentBlock[] => (said === '' ? [] : [{ type: 'text', text: said }]);
      tasks.runWatch.began(SCOPE, 'r', channel, soFar);
      channel.emit({ event_type: 'run_start', thread_id: 't1', run_id: 'r' });
      channel.emit({ event_type: 'step_start', message_id: 'm' });
      return channel;
    },
  };
};

const DONE: Partial<Run> = { status: 'done', termination_reason: { type: 'natural_end' } };
const WAITS: Partial<Run> = { status: 'waiting', waiting: { reason: 'tool_permission' } };

const listen = (tasks: TaskService, pieces: boolean) => {
  const heard: StreamResponse[] = [];
  const following = tasks.follow(SCOPE, 'r', {
    pieces,
    take(event, json) {
      if (json() !== JSON.stringify(event)) throw new Error('the text is not that of the event');
      heard.push(event);
    },
    fail(error) {
      throw error;
    },
  });
  return { heard, ...following };
};

const short = (event: StreamResponse): string => {
  if ('statusUpdate' in event) return event.statusUpdate.status.state.replace('TASK_STATE_', '');
  if (!('artifactUpdate' in event)) return 'task';
  const { artifact, append, lastChunk } = event.artifactUpdate;
  const text = artifact.parts.map((part) => ('text' in part ? part.text : JSON.stringify(part))).join('|');
  return `${append ? '+' : '='}${text}${lastChunk ? '.' : ''}`;
};

t.test('sends every status to an early subscriber, and the artifact before the end', async (t) => {
  const { tasks, move, begin, pause } = await room(t);
  const { heard } = listen(tasks, true);
  await move({ status: 'created' });
  const channel = begin();
  channel.text('Hello');
  await move({ status: 'running' });
  await pause();
  channel.text(', world');
  await move(DONE, ['Hello, world']);
  t.strictSame(heard.map(short), ['SUBMITTED', 'WORKING', '=Hello', '+, world.', 'COMPLETED']);
  t.match(heard.at(-1), { statusUpdate: { status: { message: { parts: [{ text: 'Hello, world' }] } } } });
});

t.test('sends no text before the run is working', async (t) => {
  const { tasks, put, begin, pause } = await room(t);
  const { heard } = listen(tasks, true);
  const tell = await put({ status: 'running' });
  begin().text('early');
  await pause();
  t.strictSame(heard, []);
  tell();
  await pause();
  t.strictSame(heard.map(short), ['WORKING', '=early']);
});

t.test('replaces the text of a completion that restarts', async (t) => {
  const { tasks, move, begin, pause } = await room(t);
  const { heard } = listen(tasks, true);
  const channel = begin();
  await move({ status: 'running' });
  channel.text('first');
  await pause();
  channel.emit({ event_type: 'stream_reset', reason: 'again' });
  channel.text('second');
  await pause();
  channel.emit({ event_type: 'step_start', message_id: 'm2' });
  await move(DONE, ['third']);
  t.strictSame(heard.map(short), ['WORKING', '=first', '=second', '=third.', 'COMPLETED']);
});

t.test('sends the existing text to the first subscriber in the middle of a completion', async (t) => {
  const { tasks, move, begin, pause } = await room(t);
  const channel = begin('Hel');
  await move({ status: 'running' });
  channel.text('Hel');
  const { heard, artifact } = listen(tasks, true);
  t.match(artifact(), { parts: [{ text: 'Hel' }] });
  channel.text('lo');
  await pause();
  channel.text('!');
  await move(DONE, ['Hello!']);
  t.strictSame(heard.map(short), ['+lo', '+!.', 'COMPLETED']);
});

const FILE = blockOfPart({ file: 'aGk=', media_type: 'text/plain', filename: 'hi.txt' });
const CHART = blockOfPart({ url: 'https://x.org/chart.png' });
const ROWS = blockOfPart({ data: { rows: 2 } });
const raw = '{"raw":"aGk=","mediaType":"text/plain","filename":"hi.txt"}';
const chart = '{"url":"https://x.org/chart.png","mediaType":"image/png"}';

const told = (block: typeof FILE) => ({
  event_type: 'activity_snapshot' as const,
  message_id: 'p',
  ...activityOfBlock(block),
});

const INFERRED = { event_type: 'inference_complete', model: 'm', duration_ms: 1 } as const;

t.test('sends parts of a model as chunks between its text', async (t) => {
  const { tasks, move, begin, pause } = await room(t);
  const { heard, artifact } = listen(tasks, true);
  const channel = begin();
  await move({ status: 'running' });
  channel.text('One');
  channel.emit(told(FILE));
  await pause();
  channel.text('Two');
  await pause();
  channel.text('!');
  channel.emit(told(ROWS));
  t.match(listen(tasks, true).artifact(), { parts: [{ text: 'One' }, { raw: 'aGk=' }, { text: 'Two' }] });
  await move(DONE, []);
  t.strictSame(heard.map(short), ['WORKING', `=One|${raw}`, '+Two', 'COMPLETED']);
  t.equal(artifact(), undefined);
});

t.test('sends parts of a tool before the next completion', async (t) => {
  const { tasks, put, move, begin, pause } = await room(t);
  const { heard } = listen(tasks, true);
  const channel = begin();
  await move({ status: 'running' });
  channel.text('Let me see');
  channel.emit(INFERRED);
  channel.emit(told(FILE));
  channel.emit(told(CHART));
  await pause();
  channel.emit({ event_type: 'step_start', message_id: 'm2' });
  channel.text('Here');
  await pause();
  channel.emit({ event_type: 'stream_reset', reason: 'again' });
  channel.emit({ event_type: 'step_start', message_id: 'm3' });
  channel.text('Here it is');
  await pause();
  await (await put(DONE, [], [FILE, CHART, { type: 'text', text: 'Here it is.' }]))();
  t.strictSame(heard.map(short), [
    'WORKING',
    '=Let me see',
    `=${raw}|${chart}|Here`,
    `=${raw}|${chart}|Here it is`,
    '+..',
    'COMPLETED',
  ]);
});

t.test('keeps parts of a tool in front of the completion while more tools are called', async (t) => {
  const { tasks, put, move, begin, pause } = await room(t);
  const { heard } = listen(tasks, true);
  const channel = begin();
  await move({ status: 'running' });
  for (const words of ['', 'One more']) {
    channel.text(words);
    channel.emit({ event_type: 'tool_call_start', id: `call ${words}`, name: 'look' });
    channel.emit(INFERRED);
    if (words === '') channel.emit(told(FILE));
    channel.emit({ event_type: 'step_start', message_id: words });
    await pause();
  }
  channel.text('Here');
  await pause();
  (await put(DONE, [], [FILE, { type: 'text', text: 'Here' }]))();
  t.strictSame(heard.map(short).slice(-3), [`+Here`, '+.', 'COMPLETED']);
});

t.test('sends the whole completion if it differs from the streamed text', async (t) => {
  const { tasks, put, move, begin, pause } = await room(t);
  const { heard } = listen(tasks, true);
  const channel = begin();
  await move({ status: 'running' });
  channel.emit(told(FILE));
  channel.text('Hi');
  await pause();
  (await put(DONE, [], [CHART, { type: 'text', text: 'Hi' }]))();
  t.strictSame(heard.map(short), ['WORKING', `=${raw}|Hi`, `=${chart}|Hi.`, 'COMPLETED']);
});

t.test('does not change delayed chunks when more text arrives', async (t) => {
  const { tasks, move, begin, pause } = await room(t);
  const pieces: (() => string)[] = [];
  tasks.follow(SCOPE, 'r', { pieces: true, take: (_, json) => pieces.push(json), fail: () => {} });
  const channel = begin();
  await move({ status: 'running' });
  channel.emit(told(FILE));
  channel.text('Hel');
  await pause();
  channel.text('lo');
  t.match(pieces.at(-1)?.(), /"Hel"/);
});

t.test('sends text from before the durable start once the run is working', async (t) => {
  const { tasks, put, begin, pause } = await room(t);
  const tell = await put({ status: 'created' });
  tell();
  begin('Hel').text('Hel');
  const working = await put({ status: 'running' });
  const { heard, artifact } = listen(tasks, true);
  t.match(artifact(), { parts: [{ text: 'Hel' }] });
  working();
  await pause();
  t.strictSame(heard.map(short), []);
});

t.test('has an actor for a task while it is followed and active', async (t) => {
  const { tasks, move, states } = await room(t);
  const early = listen(tasks, false);
  t.strictSame(states(), [], 'no actor exists before the task');
  await move({ status: 'created' });
  await move({ status: 'running' });
  await move(WAITS, ['May I?']);
  early.stop();
  t.strictSame(states(), ['submitted', 'submitted', 'working', 'authRequired', 'gone']);
  await move({ status: 'running' });
  const late = listen(tasks, false);
  await move(DONE, ['Done']);
  t.strictSame(states().slice(5), ['working', 'working', 'completed', 'gone']);
  late.stop();
  listen(tasks, false).stop();
  t.equal(states().length, 9, 'an ended task has no actor');
});

t.test('emits all states of a task that ended before its start was visible', async (t) => {
  const { tasks, move, states } = await room(t);
  const { heard } = listen(tasks, false);
  await move({ status: 'created' });
  await move(DONE, ['Hi']);
  t.strictSame(states(), ['submitted', 'submitted', 'working', 'completed', 'gone']);
  t.strictSame(heard.map(short), ['SUBMITTED', '=Hi.', 'COMPLETED']);
});

t.test('sends a later subscriber the existing text, and then the same events', async (t) => {
  const { tasks, move, begin, pause } = await room(t);
  const first = listen(tasks, true);
  const channel = begin();
  await move({ status: 'running' });
  channel.text('Hel');
  await pause();
  const second = listen(tasks, true);
  t.match(second.artifact(), { parts: [{ text: 'Hel' }] });
  channel.text('lo');
  await move(DONE, ['Hello']);
  t.strictSame(second.heard.map(short), ['+lo.', 'COMPLETED']);
  t.strictSame(first.heard.slice(-2), second.heard);
});

t.test('sends nothing to a subscriber that has left, but to the others', async (t) => {
  const { tasks, move } = await room(t);
  const [first, second] = [listen(tasks, false), listen(tasks, false)];
  await move({ status: 'running' });
  first.stop();
  await move(DONE, ['Hi']);
  t.strictSame(first.heard.map(short), ['WORKING']);
  t.strictSame(second.heard.map(short), ['WORKING', '=Hi.', 'COMPLETED']);
});

t.test('does not repeat stored changes to a new subscriber when they are emitted late', async (t) => {
  const { tasks, move, put } = await room(t);
  await move({ status: 'created' });
  const early = listen(tasks, true);
  const working = await put({ status: 'running' });
  const waiting = await put(WAITS, ['May I?']);
  const late = listen(tasks, true);
  working();
  waiting();
  await move({ status: 'running' });
  t.strictSame(early.heard.map(short), ['WORKING', 'AUTH_REQUIRED', 'WORKING']);
  t.strictSame(late.heard.map(short), ['WORKING']);
});

t.test('sends nothing for a step', async (t) => {
  const { tasks, move } = await room(t);
  const { heard } = listen(tasks, true);
  await move({ status: 'running' });
  await move({ status: 'running', steps: 1 });
  t.strictSame(heard.map(short), ['WORKING']);
});

t.test('sends a watcher the current task, then each change and the whole artifact', async (t) => {
  const { tasks, move, begin, pause } = await room(t);
  t.equal(
    tasks.watch(SCOPE, 'r', () => {}),
    undefined,
  );
  await move({ status: 'created' });
  const heard: StreamResponse[] = [];
  const watch = tasks.watch(SCOPE, 'r', (event) => heard.push(event));
  t.match(watch?.task, { id: 'r', status: { state: 'TASK_STATE_SUBMITTED' } });
  const channel = begin();
  await move({ status: 'running' });
  channel.text('Hello');
  await pause();
  await move(DONE, ['Hello']);
  t.strictSame(heard.map(short), ['WORKING', '=Hello.', 'COMPLETED']);
  watch?.stop();
});
