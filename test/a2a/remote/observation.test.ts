import t from 'tap';
import { readEvents } from '../../../src/a2a/remote/events.ts';
import {
  type Answer,
  type Answers,
  agentAt,
  agentSays,
  artifact,
  brokenOff,
  CANCEL,
  createTurn,
  event,
  json,
  READ,
  SEND,
  SUBSCRIBE,
  SUBSCRIBE_GET,
  silence,
  startPeer,
  status,
  stream,
  talk,
  task,
} from './peer.ts';

/** a2a.md 12.6 and 12.7; 19, checks 46 and 48. */

const accepted = json({ task: task('SUBMITTED') });
const completed = json(task('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'Polled' }] }] }));

/** A complete stream after a task was accepted. */
const streamed = (t: Parameters<typeof talk>[0], chunks: readonly string[], more: Answers = {}) =>
  talk(t, { [SEND]: accepted, [SUBSCRIBE]: stream(chunks), ...more });

t.test('does not poll a service that streams', async (t) => {
  const { asked, routes, outcome, deltas, snapshots } = await streamed(t, [
    event({ task: task('WORKING') }),
    event(artifact('Hel')),
    event(artifact('lo ', { append: true })),
    event(artifact('there', { append: true, lastChunk: true })),
    event(status('COMPLETED')),
  ]);
  t.strictSame(routes(), [SEND, SUBSCRIBE]);
  t.match(asked[1]?.headers, { accept: 'text/event-stream', 'a2a-version': '1.0' });
  t.match(outcome, { status: 'completed', text: 'Hello there' });
  t.strictSame(deltas, ['Hel', 'lo ', 'there']);
  t.strictSame(
    snapshots.map(({ state, text }) => [state, text]),
    [
      ['TASK_STATE_SUBMITTED', undefined],
      ['TASK_STATE_WORKING', undefined],
      ['TASK_STATE_WORKING', 'Hel'],
      ['TASK_STATE_WORKING', 'Hello there'],
      ['TASK_STATE_COMPLETED', 'Hello there'],
    ],
    'a chunk in the middle of a text is a delta',
  );
});

t.test('parses comments, multi-line data, all line endings and a missing final blank line', async (t) => {
  const { outcome, routes } = await streamed(t, [
    ': heartbeat\n\n',
    `data: {"task":\r\ndata: ${JSON.stringify(task('WORKING'))}}\r\n\r\n`,
    'id: 7\nevent: message\n',
    event(artifact('ü')).slice(0, 40),
    event(artifact('ü')).slice(40),
    `data: ${JSON.stringify(status('COMPLETED'))}`,
  ]);
  t.match(outcome, { status: 'completed', text: 'ü' });
  t.strictSame(routes(), [SEND, SUBSCRIBE]);
});

t.test('keeps a character that is split across chunks', async (t) => {
  const bytes = Buffer.from(event(artifact('ü')) + event(status('COMPLETED')));
  const middle = bytes.indexOf(0xc3) + 1;
  const { outcome } = await talk(t, {
    [SEND]: accepted,
    [SUBSCRIBE](response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(bytes.subarray(0, middle));
      setImmediate(() => response.end(bytes.subarray(middle)));
    },
  });
  t.equal(outcome.text, 'ü');
});

const unserved: [name: string, answer: Answers[string]][] = [
  ['404', json({ error: { code: 404, message: 'unsupported path' } }, 404)],
  ['405', json({}, 405)],
  ['501', json({}, 501)],
];
for (const [name, answer] of unserved) {
  t.test(`subscribes with GET if POST is answered with ${name}`, async (t) => {
    const { routes, outcome } = await streamed(t, [], {
      [SUBSCRIBE]: answer,
      [SUBSCRIBE_GET]: stream([event(artifact('x')), event(status('COMPLETED'))]),
    });
    t.strictSame(routes(), [SEND, SUBSCRIBE, SUBSCRIBE_GET]);
    t.match(outcome, { status: 'completed', text: 'x' });
  });

  t.test(`polls a service that answers both methods with ${name}`, async (t) => {
    const { routes, outcome, deltas } = await streamed(t, [], {
      [SUBSCRIBE]: answer,
      [SUBSCRIBE_GET]: answer,
      [READ]: [json(task('WORKING')), completed],
    });
    t.strictSame(routes(), [SEND, SUBSCRIBE, SUBSCRIBE_GET, READ, READ]);
    t.match(outcome, { status: 'completed', text: 'Polled' });
    t.strictSame(deltas, ['Polled']);
  });
}

t.test('does not retry a subscription that is rejected for another reason', async (t) => {
  const ended = json({ error: { code: 400, details: [{ reason: 'UNSUPPORTED_OPERATION' }] } }, 400);
  const { routes, outcome } = await streamed(t, [], { [SUBSCRIBE]: ended, [READ]: completed });
  t.notOk(routes().includes(SUBSCRIBE_GET));
  t.match(outcome, { status: 'completed', text: 'Polled' });
});

t.test('ends instead of subscribing with GET if the task is unknown', async (t) => {
  const unknown = json({ error: { message: 'gone', details: [{ reason: 'TASK_NOT_FOUND' }] } }, 404);
  const { base_url, routes } = await startPeer(t, {
    [SEND]: accepted,
    [SUBSCRIBE]: unknown,
    [READ]: unknown,
  });
  await t.rejects(agentAt(base_url).agent.converse(createTurn().turn), {
    message: 'A2A task rejected: status 404: gone (TASK_NOT_FOUND)',
  });
  t.notOk(routes().includes(SUBSCRIBE_GET));
});

const breaks: [name: string, answer: Answer][] = [
  ['ends early', stream([event({ task: task('WORKING') })])],
  ['is cut', brokenOff],
  ['sends an error', stream([`event: error\ndata: {"code":500}\n\n`], { hold: true })],
  ['sends invalid data', stream(['data: {\n\n'], { hold: true })],
];
for (const [name, answer] of breaks) {
  t.test(`reopens a stream that ${name} once, and then polls`, async (t) => {
    const again = await streamed(t, [], {
      [SUBSCRIBE]: [answer, stream([event(artifact('again')), event(status('COMPLETED'))])],
    });
    t.strictSame(again.routes(), [SEND, SUBSCRIBE, SUBSCRIBE]);
    t.match(again.outcome, { status: 'completed', text: 'again' });
    const polled = await streamed(t, [], { [SUBSCRIBE]: answer, [READ]: completed });
    t.strictSame(polled.routes(), [SEND, SUBSCRIBE, SUBSCRIBE, READ]);
    t.match(polled.outcome, { status: 'completed', text: 'Polled' });
  });
}

t.test('abandons a silent stream', async (t) => {
  const { base_url, routes } = await startPeer(t, {
    [SEND]: accepted,
    [SUBSCRIBE]: [silence, stream([': hello\n\n'], { hold: true })],
    [READ]: completed,
  });
  const { agent } = agentAt(base_url, {}, { idleMs: 20 });
  t.match(await agent.converse(createTurn().turn), { status: 'completed' });
  t.strictSame(routes(), [SEND, SUBSCRIBE, SUBSCRIBE, READ]);
});

t.test('limits the size of an endless stream', async (t) => {
  const mebibyte = new TextEncoder().encode(`:${'x'.repeat(2 ** 20 - 2)}\n`);
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      sent += 1;
      controller.enqueue(mebibyte);
    },
  });
  const reading = readEvents(new Response(body), () => {});
  await t.rejects(reading.next(), { kind: 'unreadable', message: 'the stream is too long' });
  t.ok(sent > 64 && sent < 70, `${sent} MiB`);
});

t.test('joins chunks of text, also when the text is repeated as a whole', async (t) => {
  const parts = ['Hel', 'lo'].map((text) => ({ text }));
  const { outcome, deltas } = await streamed(t, [], {
    [SUBSCRIBE]: [
      stream([event(artifact('Hel')), event(artifact('lo', { append: true }))]),
      stream([
        event({ task: task('WORKING', { artifacts: [{ artifactId: 'a', parts }] }) }),
        event(artifact(' there', { append: true })),
        event(status('COMPLETED')),
      ]),
    ],
  });
  t.equal(outcome.text, 'Hello there');
  t.strictSame(deltas, ['Hel', 'lo', ' there']);
});

t.test('separates parts of one artifact that were not chunked with a blank line', async (t) => {
  const parts = [{ text: 'One' }, { data: { two: 2 } }, { url: 'https://a.example/x' }];
  const { outcome } = await streamed(t, [event({ task: task('COMPLETED', { artifacts: [{ parts }] }) })]);
  t.equal(outcome.text, 'One\n\n{"two":2}');
  t.strictSame(outcome.output.artifacts, [{ content: parts }]);
});

t.test('takes the text of the first artifact that has one, else of the status', async (t) => {
  const artifacts = [{ parts: [{ raw: 'aGk=' }] }, { parts: [{ text: 'B' }] }, { parts: [{ text: 'C' }] }];
  const said = { state: 'TASK_STATE_COMPLETED', message: agentSays('Said') };
  const both = await talk(t, { [SEND]: json({ task: task('COMPLETED', { artifacts, status: said }) }) });
  t.equal(both.outcome.text, 'B');
  const one = await talk(t, { [SEND]: json({ task: task('COMPLETED', { status: said }) }) });
  t.equal(one.outcome.text, 'Said');
  t.strictSame(one.deltas, ['Said']);
});

t.test('treats the text of a working status as progress only', async (t) => {
  const { outcome, deltas, snapshots } = await streamed(t, [
    event(status('WORKING', 'Thinking …')),
    event(artifact('Done.')),
    event(status('COMPLETED')),
  ]);
  t.equal(outcome.text, 'Done.');
  t.strictSame(deltas, ['Done.']);
  t.match(snapshots, [{}, { text: 'Thinking …' }, { text: 'Done.' }, { text: 'Done.' }]);
});

t.test('stops streaming when the text changes, and returns the final text', async (t) => {
  const { outcome, deltas } = await streamed(t, [
    event(artifact('Perhaps')),
    event(artifact('Certainly not')),
    event(status('COMPLETED')),
  ]);
  t.equal(outcome.text, 'Certainly not');
  t.strictSame(deltas, ['Perhaps']);
});

t.test('returns the last state of the task unchanged', async (t) => {
  const last = { ...task('COMPLETED'), extra: { kept: true } };
  const { outcome } = await talk(t, { [SEND]: json({ task: last }) });
  t.strictSame(outcome.output.raw, last);
  const built = await streamed(t, [event(artifact('x')), event(status('COMPLETED'))]);
  t.match(built.outcome.output.raw, {
    id: 't-1',
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
  });
});

const said = (state: string, text?: string) => ({
  state: `TASK_STATE_${state}`,
  ...(text !== undefined && { message: agentSays(text) }),
});
const ends: [state: string, text: string | undefined, outcome: object][] = [
  ['FAILED', 'no quota', { status: 'failed', reason: 'no quota', text: '' }],
  ['FAILED', undefined, { status: 'failed', reason: 'remote task ended in TASK_STATE_FAILED' }],
  ['REJECTED', 'not mine', { status: 'rejected', reason: 'not mine', text: '' }],
  ['REJECTED', undefined, { status: 'rejected', reason: 'remote task ended in TASK_STATE_REJECTED' }],
  ['CANCELED', undefined, { status: 'cancelled', text: '' }],
  ['INPUT_REQUIRED', 'Which city?', { status: 'input_required', reason: 'Which city?', text: 'Which city?' }],
  [
    'INPUT_REQUIRED',
    undefined,
    { status: 'input_required', reason: 'remote agent requires additional input', text: '' },
  ],
  ['AUTH_REQUIRED', 'Log in', { status: 'auth_required', reason: 'Log in', text: 'Log in' }],
  [
    'AUTH_REQUIRED',
    undefined,
    { status: 'auth_required', reason: 'remote agent requires authentication', text: '' },
  ],
];
for (const [state, text, expected] of ends) {
  t.test(`ends a task in ${state} ${text ? 'with' : 'without'} a word, however it is followed`, async (t) => {
    const last = { ...task(state), status: said(state, text) };
    const atOnce = await talk(t, { [SEND]: json({ task: last }) });
    const polled = await talk(t, { [SEND]: accepted, [SUBSCRIBE]: json({}, 500), [READ]: json(last) });
    const told = await streamed(t, [event(status(state, text))]);
    for (const { outcome, snapshots, submitted } of [atOnce, polled, told]) {
      t.match(outcome, { ...expected, task: { task_id: 't-1', context_id: 'c-1' } });
      t.equal(snapshots.at(-1)?.state, `TASK_STATE_${state}`);
      t.equal(submitted.length, 1);
    }
    const failed = ['FAILED', 'REJECTED'].includes(state);
    t.equal(told.snapshots.at(-1)?.failure_message, failed ? text : undefined);
  });
}

t.test('returns a question instead of the partial result', async (t) => {
  const { outcome } = await streamed(t, [
    event(artifact('So far')),
    event(status('INPUT_REQUIRED', 'Where?')),
  ]);
  t.match(outcome, { status: 'input_required', reason: 'Where?', text: 'Where?' });
});

t.test('confirms the request for input of a continued task with a second read', async (t) => {
  const asks = { ...task('INPUT_REQUIRED'), status: said('INPUT_REQUIRED', 'Which city?') };
  const say = {
    message_id: 'm-2',
    content: [{ type: 'text' as const, text: 'Paris' }],
    task_id: 't-1',
    context_id: 'c-1',
  };
  const goesOn = await talk(
    t,
    {
      [SEND]: json({ task: asks }),
      [SUBSCRIBE]: stream([event({ task: task('WORKING') }), event(status('COMPLETED', 'It is'))]),
    },
    { turn: { say } },
  );
  t.match(goesOn.outcome, { status: 'completed', text: 'It is' });
  t.strictSame(goesOn.deltas, ['It is']);
  const asksAgain = await talk(
    t,
    { [SEND]: json({ task: asks }), [SUBSCRIBE]: stream([event({ task: asks })], { hold: true }) },
    { turn: { say } },
  );
  t.match(asksAgain.outcome, { status: 'input_required', text: 'Which city?' });
  t.strictSame(asksAgain.deltas, ['Which city?']);
});

t.test('treats an unknown state as unfinished', async (t) => {
  const { outcome, count } = await talk(t, {
    [SEND]: json({ task: { id: 't-1' } }),
    [SUBSCRIBE]: json({}, 500),
    [READ]: [json(task('PONDERING')), json({ id: 't-1', status: 5 }), completed],
  });
  t.match(outcome, { status: 'completed' });
  t.equal(count(READ), 3);
});

t.test('retries polls after transient failures', async (t) => {
  const { outcome, count } = await talk(t, {
    [SEND]: accepted,
    [SUBSCRIBE]: json({}, 500),
    [READ]: [json({}, 503), brokenOff, json({}, 429), completed],
  });
  t.match(outcome, { status: 'completed', text: 'Polled' });
  t.equal(count(READ), 4);
});

const final: [name: string, answer: Answers[string], message: RegExp][] = [
  ['403', json({}, 403), /^A2A task rejected: status 403$/],
  [
    'an answer that is not JSON',
    (response) => response.end('x'),
    /^failed to decode A2A task: the response is not JSON$/,
  ],
  [
    'an integer that would be rounded',
    (response) => response.end('{"id":"t-1","metadata":{"order":12345678901234567890}}'),
    /^failed to decode A2A task: the response: the integer 12345678901234567890 cannot be kept exactly/,
  ],
  [
    'an answer that is not a task',
    json({ hello: 1 }),
    /^failed to decode A2A task: the response is not a task$/,
  ],
  ['a redirect', (response) => response.writeHead(302).end(), /^A2A task rejected: status 302$/],
];
for (const [name, answer, message] of final) {
  t.test(`stops polling after ${name}`, async (t) => {
    const { base_url, count } = await startPeer(t, { [SEND]: accepted, [READ]: answer });
    await t.rejects(agentAt(base_url).agent.converse(createTurn().turn), { message });
    t.strictSame([count(READ), count(CANCEL)], [1, 0]);
  });
}

t.test('reports the same text once, however often it is polled', async (t) => {
  const working = json(task('WORKING'));
  const { snapshots } = await talk(t, {
    [SEND]: accepted,
    [READ]: [working, working, working, completed],
  });
  t.strictSame(
    snapshots.map(({ state }) => state),
    ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'],
  );
});

t.test('follows an earlier task without submitting another', async (t) => {
  const { routes, outcome, submitted } = await talk(
    t,
    { [SUBSCRIBE]: stream([event({ task: task('WORKING') }), event(status('COMPLETED', 'Late'))]) },
    { turn: { follow: { task_id: 't-1', context_id: 'c-1' } } },
  );
  t.strictSame(routes(), [SUBSCRIBE]);
  t.match(outcome, { status: 'completed', text: 'Late' });
  t.strictSame(submitted, []);
});

t.test('encodes remote ids in URLs', async (t) => {
  const id = 'a/b c?';
  const { routes, outcome } = await talk(t, {
    [SEND]: json({ task: { ...task('WORKING'), id } }),
    'GET /tasks/a%2Fb%20c%3F': json({ ...task('COMPLETED'), id }),
  });
  t.ok(routes().includes('GET /tasks/a%2Fb%20c%3F'));
  t.equal(outcome.task?.task_id, id);
});
