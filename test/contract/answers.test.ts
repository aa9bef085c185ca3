import t, { type Test } from 'tap';
import { z } from 'zod';
import { ModelError } from '../../src/models/errors.ts';
import { giveAnswer, type ScriptedAnswer } from '../../src/models/scripted-answer.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { connectPeer } from '../programs/peer.ts';
import { TAP_PLACES } from '../run/places.ts';
import { type RecordedAnswer, readAnswers } from '../run/recorded.ts';
import { ask } from '../service/http.ts';
import type { Inference } from '../service/models.ts';
import { readBlocks } from '../service/stream.ts';
import { withTools } from '../service/suspended.ts';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import { contractOf } from './document.ts';

/** Responses of services match the OpenAPI document: frames of streams here, and complete responses of all tests. */

type Frame = { [key: string]: unknown };

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

const reports = defineTool({
  id: 'reports',
  description: 'Tells how far it is.',
  input: z.object({}),
  execute: (_, { progress }) => {
    progress({ status: 'running', message: 'half of it', progress: 0.5 });
    return { all: 'of it' };
  },
});

const { troupe } = await withTools(t, {
  settings: { seed: { profile: 'demo' }, inspection_addr: '127.0.0.1:0' },
  app: { tools: [reports] },
});
const contract = contractOf(await (await fetch(`${troupe.url}/openapi.json`)).json());

/** Sends a request, and validates every frame of the stream against the document until its end or `last`. */
const framesOf = async (
  t: Test,
  method: 'get' | 'post',
  path: string,
  { body, last }: { body?: object; last?: (frame: Frame) => boolean } = {},
): Promise<Frame[]> => {
  const response = await ask(troupe.url + path, {
    method,
    headers: { ...ADMIN, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const [pathname = ''] = path.split('?');
  const said = {
    method,
    path: pathname,
    status: response.status,
    type: response.headers.get('content-type'),
  };
  const blocks = readBlocks(response);
  const faults = new Set<string>();
  const frames: Frame[] = [];
  for (let block = await blocks.next(); block !== undefined; block = await blocks.next()) {
    const [, data] = /^data: (.*)$/m.exec(block) ?? [];
    if (data === undefined || data === '[DONE]') continue;
    const frame = JSON.parse(data);
    frames.push(frame);
    const fault = contract.fault(said, frame);
    if (fault !== undefined) faults.add(`${fault} in ${data.slice(0, 300)}`);
    if (last?.(frame)) break;
  }
  await blocks.close();
  t.equal(response.status, 200, path);
  t.strictSame([...faults], [], `${frames.length} frames of ${path}`);
  t.ok(frames.length > 0, 'the stream has frames');
  return frames;
};

const gives =
  (answer: ScriptedAnswer): Inference =>
  (sink) =>
    giveAnswer(answer, sink);

const calls = (...of: [tool: string, args: object][]): Inference =>
  gives({ calls: of.map(([tool, args], index) => ({ id: `${tool}-${index}`, tool, args, streamed: true })) });

/** Together they produce every kind of frame. */
const PLAYED: Record<string, readonly Inference[]> = {
  text: [gives({ text: ['Hel', 'lo'], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })],
  reasoning: [
    gives({
      reasoning: ['Well, ', 'so'],
      text: 'Yes',
      parts: [{ file: 'iVBORw0KGgo=', media_type: 'image/png' }, { data: { of: 1 } }],
    }),
  ],
  sources: [
    (sink) => {
      sink.source?.({ type: 'url', id: 's1', url: 'https://example.org/' });
      sink.reasoningEncrypted('opaque');
      sink.text('cited');
      return { stop: 'EndTurn' };
    },
  ],
  tools: [
    calls(['get_weather', { location: 'Rome' }], ['failingTool', {}], ['no_such_tool', {}]),
    gives({ text: 'ok' }),
  ],
  state: [calls(['add_trips', { trips: [] }], ['append_note', { note: 'x' }]), gives({ text: 'noted' })],
  progress: [calls(['reports', {}]), gives({ text: 'done' })],
  waits: [calls(['risky', {}], ['pick_color', {}])],
  reset: [
    (sink) => {
      sink.text('half');
      sink.toolStart('c1', 'get_weather');
      sink.toolDelta('c1', '{"loc');
      sink.reset?.('the stream broke');
      return giveAnswer({ text: 'whole', usage: { total_tokens: 1 } }, sink);
    },
  ],
  fails: [gives({ text: 'half', fails: new ModelError('provider', 'it broke') })],
};

t.test('frames of runs match the document in every protocol, for every kind of frame', async (t) => {
  const { steps } = troupe.models;
  for (const [name, inferences] of Object.entries(PLAYED)) {
    const stream = (path: string, body: object) => {
      steps.splice(0, steps.length, ...inferences);
      return framesOf(t, 'post', path, { body });
    };
    const native = await stream('/v1/runs', {
      agentId: 'steps',
      threadId: `native-${name}`,
      messages: [{ role: 'user', content: 'Go' }],
    });
    t.equal(native.at(-1)?.event_type, 'run_finish');
    await stream('/v1/ai-sdk/chat', {
      id: `chat-${name}`,
      agentId: 'steps',
      messages: [{ id: `chat-${name}-1`, role: 'user', parts: [{ type: 'text', text: 'Go' }] }],
    });
    await stream('/v1/ag-ui/agents/steps/runs', {
      threadId: `ag-ui-${name}`,
      runId: `run-${name}`,
      messages: [{ id: `ag-ui-${name}-1`, role: 'user', content: 'Go' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    });
    await stream('/v1/a2a/steps/message:stream', {
      message: { messageId: `a2a-${name}`, role: 'ROLE_USER', parts: [{ text: 'Go' }] },
    });
  }
});

t.test('frames of logs, replays and actors match the document', async (t) => {
  /** Follows from after the first event. */
  const followed = async (path: string, last: (frame: Frame) => boolean): Promise<void> => {
    const { body } = await troupe.admin('GET', `${path}?limit=1`);
    await framesOf(t, 'get', `${path}/stream?cursor=${body.next_cursor}`, { last });
  };
  const ended = ({ event_kind }: Frame): boolean =>
    event_kind === 'RunFinished' || event_kind === 'RunErrored';
  for (const name of Object.keys(PLAYED)) {
    const waits = name === 'waits';
    const last = waits ? ({ event_kind }: Frame) => event_kind === 'RunSuspended' : ended;
    await followed(`/v1/threads/native-${name}/events`, last);
    await framesOf(t, 'get', `/v1/ai-sdk/chat/chat-${name}/replay`);
    await framesOf(t, 'get', `/v1/ag-ui/threads/ag-ui-${name}/replay`);
  }
  const { body: runs } = await troupe.admin('GET', '/v1/threads/native-tools/runs');
  const [run] = Array.isArray(runs.items) ? runs.items : [];
  await followed(`/v1/runs/${run.run_id}/events`, ended);
  await framesOf(t, 'get', '/v1/system/actors/stream', { last: () => true });
  const { body: programs } = await troupe.admin('GET', '/v1/system/programs');
  const peer = await connectPeer(t, String(programs.url));
  peer.tell({ type: '@xstate.actor', sessionId: 'one', snapshot: { value: 'on' } });
  const isOver = ({ type }: Frame): boolean => type === 'ended';
  const told = framesOf(t, 'get', '/v1/system/programs/stream', {
    last(frame) {
      const snapshot = frame.type === 'transition' ? { status: 'done' } : { value: 'off' };
      peer.tell({ type: '@xstate.snapshot', sessionId: 'one', event: { type: 'GO' }, snapshot });
      return isOver(frame);
    },
  });
  t.match((await told).at(-1), { type: 'ended', actor: '1:one' });
});

/** Makes the requests of the tests above again, for when this file runs alone. */
const fresh = async (method: string, path: string, headers = {}): Promise<RecordedAnswer> => {
  const response = await ask(troupe.url + path, { method, headers });
  return {
    file: 'this one',
    method: method.toLowerCase(),
    path: new URL(path, troupe.url).pathname,
    status: response.status,
    type: response.headers.get('content-type'),
    body: await response.text(),
  };
};

/** True for an unknown path, or a method that the path does not have. These responses are not part of the document. */
const isNoRoute = ({ status, body }: RecordedAnswer): boolean =>
  status === 405 || (status === 404 && body.startsWith('{"error":"no such path: '));

t.test('complete responses of all tests of this run match the document', async (t) => {
  const own = await Promise.all([
    fresh('GET', '/health'),
    fresh('GET', '/v1/threads'),
    fresh('GET', '/v1/threads/native-text'),
    fresh('GET', '/v1/threads/native-text/messages'),
    fresh('GET', '/v1/runs?limit=2'),
    fresh('GET', '/v1/runs?limit=none'),
    fresh('GET', '/v1/runs/there-is-none'),
    fresh('GET', '/v1/capabilities', ADMIN),
    fresh('GET', '/v1/capabilities'),
    fresh('GET', '/v1/config/agents', ADMIN),
  ]);
  const met = new Set<string>();
  const faults = new Map<string, string>();
  for (const answer of [...own, ...readAnswers(TAP_PLACES.answers)]) {
    const { method, path, file, type, body } = answer;
    const operation = contract.operationOf(method, path);
    if (operation === undefined || isNoRoute(answer)) continue;
    met.add(operation);
    const fault = contract.fault(answer, type?.includes('json') ? JSON.parse(body) : body);
    if (fault !== undefined && !faults.has(fault)) {
      faults.set(fault, `${file}: ${method} ${path}: ${fault} in ${body.slice(0, 300)}`);
    }
  }
  t.comment(`${met.size} of ${contract.operationIds.length} operations`);
  t.strictSame([...faults.values()], []);
});
