import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  safeValidateUIMessages,
} from 'ai';
import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { asks } from '../service/models.ts';
import { withTools } from '../service/suspended.ts';
import { eventually } from '../service/troupe.ts';
import { breakable, openTab, partsOf, textOf } from './chat-client.ts';

/** The official chat client against the service (chat-and-agui.md 16, 17). */

const streaming = async (chat: { status: string; lastMessage: unknown }) =>
  eventually(
    async () => chat.status,
    (status) => status === 'streaming',
  );

t.test('completes two turns with reasoning, text and a tool', async (t) => {
  const { troupe } = await withTools(t);
  troupe.models.steps.push((sink) => {
    sink.reasoning('Hm.');
    sink.text('Let me look. ');
    sink.toolStart('c1', 'note');
    sink.toolEnd('c1', '{}');
    return { stop: 'ToolUse' };
  });
  const { chat } = openTab(troupe, 'T', 'steps');
  await chat.sendMessage({ text: 'hi' });
  t.equal(chat.status, 'ready');
  t.match(partsOf(chat.lastMessage), [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'Let me look. ' },
    { type: 'tool-note', state: 'output-available', output: 'did c1' },
    { type: 'text', text: 'echo: hi' },
  ]);
  await chat.sendMessage({ text: 'again' });
  t.strictSame(
    chat.messages.map(({ role }) => role),
    ['user', 'assistant', 'user', 'assistant'],
  );
  t.equal(textOf(chat.lastMessage), 'echo: again');
});

t.test('sends an approval automatically once, and continues the message', async (t) => {
  const { troupe, tools } = await withTools(t);
  troupe.models.steps.push(asks(['c1', 'risky'], ['c2', 'risky']));
  const { chat, requests } = openTab(troupe, 'T', 'steps', {
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  await chat.sendMessage({ text: 'hi' });
  t.match(partsOf(chat.lastMessage), [
    { state: 'approval-requested', approval: { id: 'perm_c1' } },
    { state: 'approval-requested', approval: { id: 'perm_c2' } },
  ]);
  await chat.addToolApprovalResponse({ id: 'perm_c1', approved: true });
  t.equal(requests.length, 1);
  await chat.addToolApprovalResponse({ id: 'perm_c2', approved: false, reason: 'no' });
  await eventually(
    async () => chat.status,
    (status) => status === 'ready' && requests.length === 2,
  );
  t.equal(chat.messages.length, 2);
  t.match(partsOf(chat.lastMessage), [
    { toolCallId: 'c1', state: 'output-available', output: 'did c1' },
    { toolCallId: 'c2', state: 'output-denied' },
    { type: 'text', text: 'echo: hi' },
  ]);
  t.strictSame(tools.executed, ['c1']);
  t.equal(chat.error, undefined);
});

t.test('approves a call in a tab that has loaded the history', async (t) => {
  const { troupe } = await withTools(t);
  troupe.models.steps.push(asks(['c1', 'risky']));
  await openTab(troupe, 'T', 'steps').chat.sendMessage({ text: 'hi' });
  const { body } = await troupe.call('GET', '/v1/ai-sdk/threads/T/messages');
  const history = await safeValidateUIMessages({ messages: body.messages });
  if (!history.success) throw history.error;
  const { chat, requests } = openTab(troupe, 'T', 'steps', {
    messages: history.data,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  await chat.addToolApprovalResponse({ id: 'perm_c1', approved: true });
  await eventually(
    async () => chat.status,
    (status) => status === 'ready' && requests.length === 1,
  );
  t.equal(chat.messages.length, 2, 'the call continues its message');
  t.match(partsOf(chat.lastMessage), [{ state: 'output-available' }, { text: 'echo: hi' }]);
});

t.test('executes a client tool once', async (t) => {
  const { troupe } = await withTools(t);
  troupe.models.steps.push(asks(['c1', 'pick_color']));
  const called: string[] = [];
  const { chat, requests } = openTab(troupe, 'T', 'steps', {
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall({ toolCall: { toolCallId, toolName } }) {
      called.push(toolCallId);
      // The client must not wait for its own output here.
      chat.addToolOutput({ tool: toolName, toolCallId, output: 'red' });
    },
  });
  await chat.sendMessage({ text: 'hi' });
  await eventually(
    async () => chat.status,
    (status) => status === 'ready' && requests.length === 2,
  );
  t.match(partsOf(chat.lastMessage), [{ state: 'output-available', output: 'red' }, { text: 'echo: hi' }]);
  t.strictSame(called, ['c1']);
  t.equal(requests.length, 2);
});

t.test('reports a failure of the provider, and allows a retry', async (t) => {
  const { troupe } = await withTools(t);
  troupe.models.steps.push(() => {
    throw new ModelError('invalid_request', 'the provider is down');
  });
  const { chat } = openTab(troupe, 'T', 'steps');
  await chat.sendMessage({ text: 'hi' });
  t.equal(chat.status, 'error');
  t.match(chat.error?.message, /the provider is down/);
  await chat.regenerate();
  t.equal(chat.status, 'ready');
  t.equal(textOf(chat.lastMessage), 'echo: hi');
});

t.test('repeats a question whose response was lost with the service, and completes it once', async (t) => {
  const { troupe } = await withTools(t);
  let isLost = false;
  const { chat } = openTab(troupe, 'T', 'slow', {
    async fetch(input, request) {
      // The restarted service has another port.
      const { pathname } = new URL(String(input));
      const response = await fetch(troupe.url + pathname, request);
      if (isLost) return response;
      isLost = true;
      await eventually(
        async () => troupe.models.waiting(),
        (waiting) => waiting === 1,
      );
      await troupe.restart();
      await response.body?.cancel();
      throw new TypeError('network error');
    },
  });
  await chat.sendMessage({ text: 'hi' });
  t.equal(chat.status, 'error');
  const again = chat.sendMessage();
  await eventually(
    async () => `${chat.status} ${troupe.models.waiting()}`,
    (state) => state === 'streaming 1',
  );
  troupe.models.release();
  await again;
  t.equal(chat.status, 'ready');
  t.strictSame(chat.messages.map(textOf), ['hi', 'partial answer']);
  const { body } = await troupe.call('GET', '/v1/ai-sdk/threads/T/messages');
  t.equal(body.total, 2);
});

t.test('reports a rejected request as an error of the client', async (t) => {
  const { troupe } = await withTools(t);
  const { chat } = openTab(troupe, 'T', 'nope');
  await chat.sendMessage({ text: 'hi' });
  t.equal(chat.status, 'error');
  t.match(chat.error?.message, /agent not found: nope/);
});

t.test('continues the run when the client stops reading', async (t) => {
  const { troupe } = await withTools(t);
  const { chat } = openTab(troupe, 'T', 'slow');
  const sent = chat.sendMessage({ text: 'hi' });
  await streaming(chat);
  await chat.stop();
  await sent;
  t.equal(chat.status, 'ready');
  t.equal(textOf(chat.lastMessage), 'partial');
  t.match((await troupe.call('GET', '/v1/threads/T/runs/latest')).body, { status: 'running' });
  troupe.models.release();
});

t.test('resumes after a broken connection and receives everything once', async (t) => {
  const { troupe } = await withTools(t);
  const network = breakable();
  const { chat } = openTab(troupe, 'T', 'slow', { fetch: network.fetch });
  const sent = chat.sendMessage({ text: 'hi' });
  await eventually(
    async () => textOf(chat.lastMessage),
    (text) => text === 'partial',
  );
  network.break();
  await sent;
  t.equal(chat.status, 'error');
  const resumed = chat.resumeStream();
  await streaming(chat);
  troupe.models.release();
  await resumed;
  t.equal(chat.status, 'ready');
  t.equal(chat.messages.length, 2);
  t.equal(textOf(chat.lastMessage), 'partial answer');
});

t.test('follows the run in a page loaded during a completion, stops, and follows again', async (t) => {
  const { troupe } = await withTools(t);
  const first = openTab(troupe, 'T', 'slow');
  const sent = first.chat.sendMessage({ text: 'hi' });
  await streaming(first.chat);
  const { body } = await troupe.call('GET', '/v1/ai-sdk/threads/T/messages');
  const history = await safeValidateUIMessages({ messages: body.messages });
  if (!history.success) throw history.error;
  const { chat } = openTab(troupe, 'T', 'slow', { messages: history.data });
  const resumed = chat.resumeStream();
  await eventually(
    async () => textOf(chat.lastMessage),
    (text) => text === 'partial',
  );
  await chat.stop();
  await resumed;
  t.equal(chat.status, 'ready');
  const again = chat.resumeStream();
  await streaming(chat);
  troupe.models.release();
  await Promise.all([again, sent]);
  t.equal(chat.messages.length, 2);
  t.equal(textOf(chat.lastMessage), 'partial answer');
  t.strictSame(partsOf(chat.lastMessage), partsOf(first.chat.lastMessage));
  await chat.resumeStream();
  t.equal(chat.status, 'ready', 'no run is left to resume');
});

t.test('follows the rest of the run in a page that is loaded while an approved call executes', async (t) => {
  const { troupe, tools } = await withTools(t);
  troupe.models.steps.push(asks(['c1', 'guarded'], ['c2', 'pick_color']));
  const called: string[] = [];
  const onToolCall = ({ toolCall }: { toolCall: { toolCallId: string } }) => {
    called.push(toolCall.toolCallId);
  };
  const first = openTab(troupe, 'T', 'steps', { onToolCall });
  await first.chat.sendMessage({ text: 'hi' });
  t.strictSame(called, ['c1', 'c2']);
  await first.chat.addToolApprovalResponse({ id: 'perm_c1', approved: true });
  await first.chat.addToolOutput({ tool: 'pick_color', toolCallId: 'c2', output: 'red' });
  const answered = first.chat.sendMessage();
  await eventually(
    async () => tools.holding(),
    (held) => held.includes('c1'),
  );
  const second = openTab(troupe, 'T', 'steps');
  const resumed = second.chat.resumeStream();
  await streaming(second.chat);
  t.match(partsOf(second.chat.lastMessage), [{ toolCallId: 'c1', state: 'input-available' }]);
  tools.release();
  await Promise.all([answered, resumed]);
  for (const { chat } of [first, second]) {
    t.equal(chat.status, 'ready');
    t.match(partsOf(chat.lastMessage), [
      { toolCallId: 'c1', state: 'output-available', output: 'did c1' },
      { toolCallId: 'c2', state: 'output-available', output: 'red' },
      { text: 'echo: hi' },
    ]);
  }
  t.strictSame(called, ['c1', 'c2'], 'no client tool is called twice');
  t.equal(second.chat.lastMessage?.id, first.chat.lastMessage?.id);
});

t.test('shows the same completion in two tabs', async (t) => {
  const { troupe } = await withTools(t);
  const [one, other] = [openTab(troupe, 'T', 'slow'), openTab(troupe, 'T', 'slow')];
  const sent = one.chat.sendMessage({ text: 'hi' });
  await streaming(one.chat);
  const followed = other.chat.resumeStream();
  await streaming(other.chat);
  troupe.models.release();
  await Promise.all([sent, followed]);
  t.strictSame(other.chat.lastMessage, one.chat.lastMessage);
});

t.test('takes over the thread with a new message while another tab streams', async (t) => {
  const { troupe } = await withTools(t);
  const [one, other] = [openTab(troupe, 'T', 'slow'), openTab(troupe, 'T', 'echo')];
  const sent = one.chat.sendMessage({ text: 'hi' });
  await streaming(one.chat);
  await other.chat.sendMessage({ text: 'stop that' });
  await sent;
  t.equal(one.chat.status, 'ready');
  t.equal(textOf(other.chat.lastMessage), 'echo: stop that');
});
