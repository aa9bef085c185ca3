import type { Test } from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { when } from '../http/serve.ts';
import { asks } from '../service/models.ts';
import { lineTo, type Site, visit } from './pages.ts';
import {
  click,
  ended,
  freeze,
  lookAt,
  looks,
  say,
  says,
  shows,
  showsParagraphs,
  showsStatuses,
} from './user.ts';

/** Tests of the chat page in a real browser, on a real service. */

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

export const testChatPage = (t: Test, site: Site): void => {
  t.test('shows reasoning, tools and completions, and the same after a reload', async (t) => {
    const { troupe, open, screenshot } = await visit(t, site);
    troupe.models.steps.push(looks);
    const page = await open('chat-page', 'assistant');
    await say(page, 'hello');
    await shows(page, 'echo: hello');
    await shows(page, 'ready');
    const texts = ['hello', 'Let me look.', 'echo: hello'];
    await showsParagraphs(t, page, texts);
    t.match(await page.locator('.tool').textContent(), /^get_weatherdone.*Sunny/s);
    await page.getByText('Reasoning').click();
    await shows(page, 'The user greets me.');
    await screenshot(page, 'chat-tool');
    await page.reload();
    await shows(page, 'echo: hello');
    await showsParagraphs(t, page, texts);
    await showsStatuses(t, page, ['done']);
  });

  t.test('sends a file', async (t) => {
    const { troupe, open, screenshot } = await visit(t, site);
    const page = await open('chat-page', 'assistant');
    await page.setInputFiles('input[type=file]', {
      name: 'dot.png',
      mimeType: 'image/png',
      buffer: PIXEL,
    });
    await say(page, 'what is this?');
    await shows(page, 'echo: what is this?');
    t.match(troupe.models.requests[0]?.request.messages.at(-1)?.content, [
      { type: 'image', source: { media_type: 'image/png', data: PIXEL.toString('base64') } },
      { type: 'text' },
    ]);
    await page.reload();
    await page.locator('.user img').waitFor();
    await screenshot(page, 'chat-file');
  });

  for (const [button, executed, note] of [
    ['Approve', ['c1'], 'done'],
    ['Deny', [], 'denied'],
  ] as const) {
    for (const reloads of [false, true]) {
      const when = reloads ? ', also on a page that was loaded since' : '';
      t.test(`shows a button "${button}" for a tool that needs approval${when}`, async (t) => {
        const { troupe, tools, open, screenshot } = await visit(t, site);
        troupe.models.steps.push(asks(['c1', 'risky', { path: '/tmp' }]));
        const page = await open('chat-page', 'assistant');
        await say(page, 'do it');
        await shows(page, 'waits for approval');
        if (reloads) await page.reload();
        await shows(page, 'ready');
        await screenshot(page, 'chat-approval');
        await click(page, button);
        await shows(page, 'echo: do it');
        await showsStatuses(t, page, [note]);
        t.strictSame(tools.executed, executed);
        t.equal(await page.getByRole('alert').count(), 0);
        await screenshot(page, `chat-${note}`);
      });
    }
  }

  t.test('answers a tool executed by the page', async (t) => {
    const { troupe, open, screenshot } = await visit(t, site);
    troupe.models.steps.push(asks(['c1', 'askUserQuestion', { message: 'Which city?' }]));
    const page = await open('chat-page', 'assistant');
    await say(page, 'weather');
    await shows(page, 'waits for your answer');
    await page.getByLabel('Answer').fill('Tokyo');
    await screenshot(page, 'chat-question');
    await click(page, 'Answer');
    await shows(page, 'echo: weather');
    await showsStatuses(t, page, ['done']);
    t.match(JSON.stringify(troupe.models.requests.at(-1)?.request.messages.at(-1)), /Tokyo/);
    await say(page, 'thanks');
    await shows(page, 'echo: thanks');
    await showsParagraphs(t, page, ['weather', 'echo: weather', 'thanks', 'echo: thanks']);
  });

  t.test('continues the response after a reload during it', async (t) => {
    const { troupe, open, screenshot } = await visit(t, site);
    const page = await open('chat-page', 'slow');
    await say(page, 'hello');
    await shows(page, 'partial');
    await page.reload();
    await shows(page, 'partial');
    await shows(page, 'answers…');
    await screenshot(page, 'chat-streams');
    troupe.models.release();
    await shows(page, 'partial answer');
    await shows(page, 'ready');
    await showsParagraphs(t, page, ['hello', 'partial answer']);
  });

  t.test('shows each step once when reloaded in a later step', async (t) => {
    const { troupe, tools, open } = await visit(t, site);
    troupe.models.steps.push(looks, asks(['c2', 'hold']));
    const page = await open('chat-page', 'assistant');
    await say(page, 'hello');
    await page.getByText('hold').waitFor();
    await page.reload();
    await page.getByText('hold').waitFor();
    await showsParagraphs(t, page, ['hello', 'Let me look.']);
    await showsStatuses(t, page, ['done', 'runs']);
    await when(() => tools.holding().length === 1);
    tools.release();
    await shows(page, 'echo: hello');
    await showsParagraphs(t, page, ['hello', 'Let me look.', 'echo: hello']);
    await showsStatuses(t, page, ['done', 'done']);
  });

  for (const reloads of [false, true]) {
    t.test(`stops a run${reloads ? ' during which it was reloaded' : ''}`, async (t) => {
      const { troupe, open } = await visit(t, site);
      const page = await open('chat-page', 'slow');
      await say(page, 'hello');
      await shows(page, 'partial');
      if (reloads) await page.reload();
      await shows(page, 'partial');
      await click(page, 'Stop');
      await shows(page, 'ready');
      t.match(await ended(troupe), { termination_reason: { type: 'cancelled' } });
      await page.reload();
      await showsParagraphs(t, page, ['hello', 'partial']);
      await shows(page, 'ready');
      t.equal(await page.getByRole('alert').count(), 0);
      await say(page, 'again');
      await shows(page, 'answers…');
      // The page shows the text before the model is called.
      await when(() => troupe.models.waiting() === 1);
      troupe.models.release();
      await shows(page, 'partial answer');
    });
  }

  t.test(
    'regenerates a response, responds to an edited question, and shows the same responses after a reload',
    async (t) => {
      const { troupe, open, screenshot } = await visit(t, site);
      const page = await open('chat-page', 'assistant');
      troupe.models.steps.push(says('first'), says('second'));
      await say(page, 'one');
      await shows(page, 'first');
      await click(page, 'Another answer');
      await shows(page, 'second');
      await showsParagraphs(t, page, ['one', 'second']);
      await click(page, 'Edit');
      await page.getByLabel('Edited message').fill('two');
      await screenshot(page, 'chat-edit');
      await click(page, 'Ask this');
      await shows(page, 'echo: two');
      await showsParagraphs(t, page, ['two', 'echo: two']);
      await page.reload();
      await shows(page, 'echo: two');
      await showsParagraphs(t, page, ['two', 'echo: two']);
      t.equal(await page.getByRole('alert').count(), 0);
    },
  );

  t.test('reconnects automatically when its connection breaks', async (t) => {
    const { troupe, open } = await visit(t, site);
    const line = await lineTo(t, troupe.url);
    const page = await open('chat-page', 'slow', line.url);
    await say(page, 'hello');
    await shows(page, 'partial');
    const again = page.waitForResponse(/\/stream$/);
    line.cut();
    await again;
    await shows(page, 'answers…');
    troupe.models.release();
    await shows(page, 'partial answer');
    await shows(page, 'ready');
    await showsParagraphs(t, page, ['hello', 'partial answer']);
    t.equal(await page.getByRole('alert').count(), 0);
  });

  t.test('shows the rest of a response when the network is back', async (t) => {
    const { troupe, open, offline, screenshot } = await visit(t, site);
    const line = await lineTo(t, troupe.url);
    const page = await open('chat-page', 'slow', line.url);
    await say(page, 'hello');
    await shows(page, 'partial');
    await offline(true);
    line.cut();
    await page.getByRole('alert').waitFor();
    await screenshot(page, 'chat-offline');
    troupe.models.release();
    await ended(troupe);
    await offline(false);
    await shows(page, 'partial answer');
    await shows(page, 'ready');
    await showsParagraphs(t, page, ['hello', 'partial answer']);
    t.equal(await page.getByRole('alert').count(), 0);
  });

  t.test('keeps a question that could not be sent, and sends it again', async (t) => {
    const { open, offline } = await visit(t, site);
    const page = await open('chat-page', 'assistant');
    await say(page, 'one');
    await shows(page, 'echo: one');
    await offline(true);
    await say(page, 'two');
    await page.getByRole('alert').waitFor();
    await offline(false);
    await click(page, 'Try again');
    await shows(page, 'echo: two');
    await showsParagraphs(t, page, ['one', 'echo: one', 'two', 'echo: two']);
  });

  t.test('shows a failure, and retries', async (t) => {
    const { troupe, open, screenshot } = await visit(t, site);
    troupe.models.steps.push(() => {
      throw new ModelError('invalid_request', 'the provider is down');
    });
    const page = await open('chat-page', 'steps');
    await say(page, 'hello');
    await page.getByRole('alert').filter({ hasText: 'the provider is down' }).waitFor();
    await screenshot(page, 'chat-failed');
    await click(page, 'Try again');
    await shows(page, 'echo: hello');
    t.equal(await page.getByRole('alert').count(), 0);
  });

  t.test('shows the same in two tabs', async (t) => {
    const { troupe, open } = await visit(t, site);
    const [one, other] = [await open('chat-page', 'slow'), await open('chat-page', 'slow')];
    await say(one, 'hello');
    await shows(one, 'partial');
    await lookAt(other);
    await shows(other, 'partial');
    troupe.models.release();
    for (const tab of [one, other]) {
      await shows(tab, 'partial answer');
      await shows(tab, 'ready');
      await showsParagraphs(t, tab, ['hello', 'partial answer']);
    }
    await say(other, 'more');
    await shows(other, 'partial');
    troupe.models.release();
    await ended(troupe);
    // A visible page notices it automatically.
    await shows(one, 'more');
    await shows(other, 'ready');
    await showsParagraphs(t, one, ['hello', 'partial answer', 'more', 'partial answer']);
    await showsParagraphs(t, other, ['hello', 'partial answer', 'more', 'partial answer']);
  });

  for (const isCut of [false, true]) {
    const also = isCut ? ' and its connection broke' : '';
    t.test(`shows everything after a time in which its tab was frozen${also}`, async (t) => {
      const { troupe, open } = await visit(t, site);
      const line = await lineTo(t, troupe.url);
      const page = await open('chat-page', 'slow', line.url);
      await say(page, 'hello');
      await shows(page, 'partial');
      const { stands, goOn } = await freeze(page);
      if (isCut) line.cut();
      troupe.models.release();
      await stands;
      await ended(troupe);
      await goOn();
      await shows(page, 'partial answer');
      await shows(page, 'ready');
      await showsParagraphs(t, page, ['hello', 'partial answer']);
      t.equal(await page.getByRole('alert').count(), 0);
    });
  }
};
