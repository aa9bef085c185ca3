import t from 'tap';
import { freePort } from '../../ports.ts';
import {
  agentAt,
  agentSays,
  brokenOff,
  CANCEL,
  createTurn,
  json,
  READ,
  SEND,
  startPeer,
  talk,
  task,
} from './peer.ts';

/** a2a.md 12.3 to 12.5; 19, checks 45, 47 and 53. */

const done = json({ task: task('COMPLETED', { artifacts: [{ artifactId: 'a', parts: [{ text: 'Hi' }] }] }) });

t.test('sends a message once in the form of the protocol', async (t) => {
  const endpoint = { auth: { type: 'bearer' as const, token: 'secret' } };
  const { asked, outcome, submitted, deltas } = await talk(t, { [SEND]: done }, { endpoint });
  t.equal(asked.length, 1, 'a settled task is not polled');
  t.match(asked[0], {
    method: 'POST',
    path: '/a2a/message:send',
    headers: {
      'a2a-version': '1.0',
      accept: 'application/a2a+json, application/json',
      authorization: 'Bearer secret',
      'content-type': 'application/json',
    },
  });
  t.strictSame(asked[0]?.body, {
    message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] },
    configuration: {
      acceptedOutputModes: ['text/plain', 'application/json', 'application/octet-stream'],
      returnImmediately: true,
    },
  });
  t.strictSame(submitted, [{ task_id: 't-1', context_id: 'c-1' }]);
  t.match(outcome, { status: 'completed', text: 'Hi', task: { task_id: 't-1', context_id: 'c-1' } });
  t.strictSame(deltas, ['Hi']);
});

t.test('sends no token if none is configured', async (t) => {
  const { asked } = await talk(t, { [SEND]: done });
  t.notOk(asked[0]?.headers.authorization);
});

t.test('names the task and the context of a continued conversation', async (t) => {
  const say = {
    message_id: 'm-2',
    content: [{ type: 'text' as const, text: 'Paris' }],
    task_id: 't-1',
    context_id: 'c-1',
  };
  const { asked } = await talk(t, { [SEND]: done }, { turn: { say } });
  t.match(asked[0]?.body, { message: { messageId: 'm-2', taskId: 't-1', contextId: 'c-1' } });
});

t.test('requests the length of history and blocking as configured', async (t) => {
  const endpoint = { options: { history_length: 3, return_immediately: false } };
  const { asked } = await talk(t, { [SEND]: done }, { endpoint });
  t.match(asked[0]?.body, { configuration: { historyLength: 3, returnImmediately: false } });
});

const paths: [base: string, target: string | undefined, path: string][] = [
  ['', undefined, '/a2a/message:send'],
  ['/', undefined, '/a2a/message:send'],
  ['/', 'my agent', '/a2a/my%20agent/message:send'],
  ['/my%20agent', 'my agent', '/a2a/my%20agent/message:send'],
  ['/helper/', 'helper', '/a2a/helper/message:send'],
  ['/helper', 'other', '/a2a/helper/other/message:send'],
];
for (const [suffix, target, path] of paths) {
  t.test(`the target '${target}' at '/a2a${suffix}' is requested at ${path}`, async (t) => {
    const { base_url, asked } = await startPeer(t, { [`POST ${path.slice('/a2a'.length)}`]: done });
    const { agent } = agentAt(`${base_url}${suffix}`, target === undefined ? {} : { target });
    await agent.converse(createTurn().turn);
    t.equal(asked[0]?.path, path);
    t.equal(agent.key, `a2a:${new URL(base_url).origin}${path.replace('/message:send', '')}`);
  });
}

t.test('accepts an immediate message without a task', async (t) => {
  const message = {
    messageId: 'r-1',
    contextId: 'c-9',
    role: 'ROLE_AGENT',
    parts: [
      { text: 'Here:' },
      { data: { n: 1 } },
      { raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' },
    ],
  };
  const { outcome, asked, submitted, deltas } = await talk(t, { [SEND]: json({ message }) });
  t.strictSame(outcome, {
    status: 'completed',
    context_id: 'c-9',
    text: 'Here:\n\n{"n":1}',
    plainText: 'Here:',
    parts: [{ data: { n: 1 } }, { file: 'aGk=', media_type: 'text/plain', filename: 'hi.txt' }],
    output: {
      text: 'Here:\n\n{"n":1}',
      artifacts: [
        { id: 'r-1:1', content: [{ data: { n: 1 } }] },
        {
          id: 'r-1:2',
          name: 'hi.txt',
          media_type: 'text/plain',
          content: [{ raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' }],
        },
      ],
      raw: message,
    },
  });
  t.strictSame([asked.length, submitted], [1, []]);
  t.strictSame(deltas, ['Here:']);
});

t.test('reads an unfinished task only after it was recorded', async (t) => {
  const working = json({ task: task('SUBMITTED') });
  const { base_url, routes } = await startPeer(t, { [SEND]: working, [READ]: json(task('COMPLETED')) });
  const { agent } = agentAt(base_url);
  let recorded: () => void = () => {};
  let asked: () => void = () => {};
  const accepted = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const { turn } = createTurn({
    onSubmitted: () => {
      asked();
      return new Promise((resolve) => {
        recorded = resolve;
      });
    },
  });
  const outcome = agent.converse(turn);
  await accepted;
  // Enough event-loop ticks for a request to arrive.
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  t.strictSame(routes(), [SEND]);
  recorded();
  t.match(await outcome, { status: 'completed' });
  t.equal(routes().at(-1), READ);
});

t.test('cancels a task that cannot be recorded and would be lost', async (t) => {
  const { base_url, until, count } = await startPeer(t, {
    [SEND]: json({ task: task('WORKING') }),
    [CANCEL]: json(task('CANCELED')),
  });
  const { turn } = createTurn({ onSubmitted: () => Promise.reject(new Error('disk full')) });
  await t.rejects(agentAt(base_url).agent.converse(turn), { message: 'disk full' });
  await until(CANCEL);
  t.equal(count(CANCEL), 1);
});

t.test('rejects an empty message without sending it', async (t) => {
  const { base_url, asked } = await startPeer(t, {});
  const say = { message_id: 'm', content: [{ type: 'thinking' as const, thinking: 'hm' }] };
  await t.rejects(agentAt(base_url).agent.converse(createTurn({ say }).turn), {
    message: 'no user message content to send',
  });
  t.equal(asked.length, 0);
});

const refused = {
  error: {
    code: 401,
    message: 'token expired',
    details: [{ '@type': 'x' }, { '@type': 'y', reason: 'UNAUTHENTICATED' }],
  },
};
const failures: [name: string, answer: Parameters<typeof startPeer>[1][string], message: RegExp][] = [
  ['401', json(refused, 401), /^A2A submission rejected: status 401: token expired \(UNAUTHENTICATED\)$/],
  ['500 without a body', json('', 500), /^A2A submission rejected: status 500$/],
  ['500 with a text', json({ error: 'oops' }, 500), /^A2A submission rejected: status 500: oops$/],
  [
    'an answer that is not JSON',
    (response) => response.end('<html>'),
    /^failed to decode A2A submission: the response is not JSON$/,
  ],
  [
    'an integer that would be rounded',
    (response) => response.end('{"message":{"parts":[{"data":{"id":9007199254740993}}]}}'),
    /^failed to decode A2A submission: the response: the integer 9007199254740993 cannot be kept exactly/,
  ],
  ['an empty object', json({}), /^sendMessage response did not contain a task or message$/],
  ['a list', json([1]), /^sendMessage response did not contain a task or message$/],
  ['a task without id', json({ task: {} }), /^sendMessage response did not contain a task or message$/],
  ['a connection that is cut', brokenOff, /^failed to submit A2A task: no connection/],
  [
    'an answer that is truncated',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{}', () => response.destroy());
    },
    /^failed to submit A2A task: the response was interrupted$/,
  ],
];
for (const [name, answer, message] of failures) {
  t.test(`${name} ends the turn with an error, and the message is not sent again`, async (t) => {
    const { base_url, count } = await startPeer(t, { [SEND]: answer });
    await t.rejects(agentAt(base_url).agent.converse(createTurn().turn), { message });
    t.equal(count(SEND), 1);
  });
}

t.test('reports an unreachable service', async (t) => {
  const { agent } = agentAt(`http://127.0.0.1:${await freePort()}`);
  await t.rejects(agent.converse(createTurn().turn), {
    message: 'failed to submit A2A task: no connection (ECONNREFUSED)',
  });
});

t.test('does not follow redirects', async (t) => {
  const other = await startPeer(t, { [SEND]: done });
  const { base_url } = await startPeer(t, {
    [SEND]: (response) => response.writeHead(307, { location: `${other.base_url}/message:send` }).end(),
  });
  await t.rejects(agentAt(base_url).agent.converse(createTurn().turn), {
    message: 'A2A submission rejected: status 307',
  });
  t.equal(other.asked.length, 0);
});

t.test('reads no more than the limit of a body of 300 MB', async (t) => {
  const mega = 'x'.repeat(1024 * 1024);
  let sent = 0;
  const { base_url } = await startPeer(t, {
    [SEND]: async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      let open = true;
      response.on('close', () => {
        open = false;
      });
      for (; sent < 300 && open; sent++) {
        if (!response.write(mega)) {
          await new Promise<void>((resolve) => {
            response.once('drain', resolve);
            response.once('close', resolve);
          });
        }
      }
      response.end();
    },
  });
  await t.rejects(agentAt(base_url).agent.converse(createTurn().turn), {
    message: /^failed to decode A2A submission: the response has more than 16777216 bytes$/,
  });
  t.ok(sent < 300);
});

t.test('does not reveal the token in a failure', async (t) => {
  const { base_url } = await startPeer(t, { [SEND]: json({ error: 'no' }, 400) });
  const { agent } = agentAt(base_url, { auth: { type: 'bearer', token: 'secret' } });
  const error = await agent.converse(createTurn().turn).catch((failed: unknown) => failed);
  t.notMatch(String(error), 'secret');
});

t.test('takes the text from the history if there is no other', async (t) => {
  const history = [agentSays('First'), { role: 'ROLE_USER', parts: [{ text: 'And?' }] }, agentSays('Second')];
  const { outcome } = await talk(t, { [SEND]: json({ task: task('COMPLETED', { history }) }) });
  t.match(outcome, { status: 'completed', text: 'Second' });
});
