import t from 'tap';
import { partsOf } from '../../../src/a2a/parts.ts';
import { decodeSend } from '../../../src/protocols/a2a/decode.ts';
import { A2aError, type Violation } from '../../../src/protocols/a2a/errors.ts';

const NO_TENANT = { tenant: undefined };

const body = (message: object = {}, more: object = {}) => ({
  message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hi' }], ...message },
  ...more,
});

const refusal = (given: unknown, options: Parameters<typeof decodeSend>[1] = NO_TENANT): A2aError => {
  try {
    decodeSend(given, options);
  } catch (error) {
    if (error instanceof A2aError) return error;
    throw error;
  }
  throw new Error('it was accepted');
};

const violations = (given: unknown, options?: Parameters<typeof decodeSend>[1]): Violation[] => {
  const [first] = refusal(given, options).details;
  return first && 'fieldViolations' in first ? [...first.fieldViolations] : [];
};

const fields = (given: unknown, options?: Parameters<typeof decodeSend>[1]): string[] =>
  violations(given, options).map(({ field }) => field);

t.test('decodes a valid message', async (t) => {
  t.strictSame(decodeSend(body(), NO_TENANT), {
    agent_id: undefined,
    message_id: 'm-1',
    task_id: undefined,
    context_id: undefined,
    content: [{ type: 'text', text: 'Hi' }],
    extras: undefined,
    history_length: undefined,
    returns_at_once: false,
    push: undefined,
  });
  const asked = decodeSend(
    body(
      { taskId: ' t-1 ', contextId: '', extensions: ['x'], other: 1 },
      {
        agent_id: 'b',
        agentId: 'a',
        tenant: ' ',
        other: 1,
        configuration: {
          historyLength: 0,
          returnImmediately: true,
          acceptedOutputModes: null,
          pushNotificationConfig: { url: 'u' },
        },
      },
    ),
    NO_TENANT,
  );
  t.match(asked, { agent_id: 'a', task_id: 't-1', history_length: 0, returns_at_once: true });
  t.equal(asked.context_id, undefined);
  t.strictSame(asked.push, { url: 'u' });
});

t.test('treats null as absent for all optional fields', async (t) => {
  const given = body(
    { taskId: null, contextId: null, parts: [{ text: 'x', data: null, url: null, mediaType: null }] },
    { tenant: null, configuration: null, metadata: null },
  );
  t.strictSame(decodeSend(given, NO_TENANT).content, [{ type: 'text', text: 'x' }]);
  const configured = body({}, { configuration: { historyLength: null, returnImmediately: null } });
  t.equal(decodeSend(configured, NO_TENANT).history_length, undefined);
});

t.test('reports all invalid fields at once', async (t) => {
  const given = body(
    {
      messageId: ' ',
      role: 'ROLE_AGENT',
      taskId: 'a/b',
      contextId: 'a..b',
      parts: [{ text: 'x', url: 'u' }, { text: '' }, { data: null }],
    },
    { tenant: 'b', configuration: { historyLength: -1 } },
  );
  t.strictSame(fields(given, { tenant: 'a' }), [
    'tenant',
    'message.role',
    'message.messageId',
    'message.taskId',
    'message.contextId',
    'message.parts[0]',
    'message.parts[2]',
    'configuration.historyLength',
  ]);
  t.strictSame(fields(body({ parts: [] })), ['message.parts']);
  t.strictSame(fields(body({ taskId: 'x'.repeat(600) })), ['message.taskId']);
  t.strictSame(fields(body({ taskId: '.' })), ['message.taskId']);
  t.equal(decodeSend(body({ taskId: '.a.' }), NO_TENANT).task_id, '.a.');
  t.strictSame(fields(body({}, { configuration: { historyLength: 1.5 } })), ['configuration.historyLength']);
  t.match(refusal(body({ role: 'ROLE_AGENT' })).details[1], { reason: 'INVALID_PARAMS' });
});

t.test('names missing required fields, and reports other shapes as an invalid body', async (t) => {
  t.strictSame(fields({}), ['message']);
  t.strictSame(fields([]), ['body']);
  t.strictSame(fields({ message: {} }), ['message.messageId', 'message.role', 'message.parts']);
  t.strictSame(fields(body({ role: 'ROLE_ADMIN' })), ['message.role']);
  t.strictSame(fields(body({ taskId: 7 })), ['body']);
  t.strictSame(
    violations({ message: { messageId: 7 } }).map(({ description }) => description),
    ['must be a string, not a number', 'required', 'required'],
  );
  t.match(violations(body({ taskId: 7 })), [{ description: /^invalid JSON body: message\.taskId: / }]);
});

t.test('rejects unsupported output modes before validating fields', async (t) => {
  const asking = (modes: string[], message = {}) =>
    body(message, { configuration: { acceptedOutputModes: modes } });
  const { code, details } = refusal(asking(['image/png', 'audio/*'], { messageId: '' }));
  t.equal(code, 415);
  t.match(details[0], {
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    metadata: { supportedOutputModes: 'text/plain', requestedOutputModes: 'image/png,audio/*' },
  });
  for (const modes of [[], ['image/png', 'TEXT/PLAIN'], ['*/*'], ['text/*']])
    t.equal(decodeSend(asking(modes), NO_TENANT).message_id, 'm-1');
});

t.test('converts parts to blocks by media type, or by the suffix of their URL', async (t) => {
  const parts = [
    { raw: 'AA==', mediaType: 'image/png', filename: 'a.png' },
    { raw: 'AA==' },
    { url: 'https://x.org/a.MP3?y=1' },
    { url: 'https://x.org/a', mediaType: 'video/mp4' },
    { url: 'https://x.org/a.pdf', filename: 'Spec' },
    { data: { a: [1, null] } },
  ];
  const { content } = decodeSend(body({ parts }), NO_TENANT);
  t.strictSame(content, [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' }, title: 'a.png' },
    { type: 'document', source: { type: 'base64', media_type: 'application/octet-stream', data: 'AA==' } },
    { type: 'audio', source: { type: 'url', url: 'https://x.org/a.MP3?y=1' } },
    { type: 'video', source: { type: 'url', url: 'https://x.org/a', media_type: 'video/mp4' } },
    { type: 'document', source: { type: 'url', url: 'https://x.org/a.pdf' }, title: 'Spec' },
    { type: 'text', text: '{"a":[1,null]}', media_type: 'application/json' },
  ]);
  t.match(partsOf(content), [
    { raw: 'AA==', mediaType: 'image/png', filename: 'a.png' },
    { raw: 'AA==', mediaType: 'application/octet-stream' },
    { url: 'https://x.org/a.MP3?y=1', mediaType: 'audio/mpeg' },
    { url: 'https://x.org/a' },
    { url: 'https://x.org/a.pdf', mediaType: 'application/pdf', filename: 'Spec' },
    { data: { a: [1, null] }, mediaType: 'application/json' },
  ]);
});

t.test('keeps the metadata of parts, messages and requests', async (t) => {
  const metadata = { a: [1, { b: null }] };
  const parts = [
    { text: '# Hi', mediaType: 'text/markdown', filename: 'hi.md', metadata },
    { text: '{"a":1}', mediaType: 'application/json' },
    { data: [1], mediaType: 'application/vnd.x+json', filename: 'x.json', metadata },
    { raw: 'AA==', mediaType: 'image/png', metadata },
    { url: 'https://x.org/a.png', mediaType: 'image/x-own', filename: 'a.png', metadata },
    { text: 'plain', metadata: {} },
  ];
  const asked = decodeSend(
    body(
      { parts, metadata, extensions: ['https://x.org/e'], referenceTaskIds: ['t-0'] },
      { metadata: { r: 1 } },
    ),
    NO_TENANT,
  );
  t.strictSame(partsOf(asked.content), [...parts.slice(0, -1), { text: 'plain' }]);
  t.strictSame(asked.extras, {
    metadata,
    extensions: ['https://x.org/e'],
    reference_task_ids: ['t-0'],
    request_metadata: { r: 1 },
  });
  const empty = body({ metadata: {}, extensions: [], referenceTaskIds: null }, { metadata: {} });
  t.equal(decodeSend(empty, NO_TENANT).extras, undefined);
  t.strictSame(fields(body({ metadata: [] })), ['body']);
  t.strictSame(fields(body({ extensions: 'x' })), ['body']);
  t.strictSame(fields(body({ referenceTaskIds: [1] })), ['body']);
});

t.test('enforces input modes only if configured', async (t) => {
  const given = body({ parts: [{ text: 'x' }, { url: 'https://x.org/a.png' }] });
  t.equal(decodeSend(given, NO_TENANT).content.length, 2);
  const refused = refusal(given, { tenant: undefined, enforceInputModes: true });
  t.equal(refused.code, 415);
  t.match(refused.details[0], { metadata: { requestedInputModes: 'image/png' } });
  const taken = body({ parts: [{ text: 'x' }, { data: 1 }, { url: 'https://x.org/a.json' }] });
  t.equal(decodeSend(taken, { tenant: undefined, enforceInputModes: true }).content.length, 3);
});
