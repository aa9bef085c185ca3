import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import type { Inference } from '../service/models.ts';
import { eventually, type Troupe } from '../service/troupe.ts';

/** Actions of a user on the example pages, and checks of the result. */

/** Waits until the page shows exactly this text. */
export const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();

export const click = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

export const say = async (page: Page, text: string) => {
  await page.getByLabel('Message').fill(text);
  await click(page, 'Send');
};

/** Waits until the page shows exactly these texts at the selector. */
const showsAt =
  (selector: string) =>
  async (t: Test, page: Page, texts: readonly string[]): Promise<void> => {
    const read = () => page.locator(selector).allInnerTexts();
    await eventually(read, (seen) => isDeepStrictEqual(seen, texts)).catch(() => {});
    t.strictSame(await read(), texts);
  };

export const showsParagraphs = showsAt('.messages p');

export const showsStatuses = showsAt('.tool .note');

/** Returns to the tab. Without a screen no tab is ever hidden, so the event is dispatched explicitly. */
export const lookAt = (page: Page) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

/** Pauses the page at its next script execution, like a tab that the browser has frozen. */
export const freeze = async (page: Page) => {
  const devtools = await page.context().newCDPSession(page);
  const stands = new Promise((resolve) => devtools.once('Debugger.paused', resolve));
  await devtools.send('Debugger.enable');
  await devtools.send('Debugger.pause');
  return {
    /** Resolves once the page is paused. */
    stands,
    goOn: () => devtools.detach(),
  };
};

const latest = async ({ call }: Troupe) => (await call('GET', '/v1/threads/T/runs/latest')).body;

export const ended = (troupe: Troupe) =>
  eventually(
    () => latest(troupe),
    ({ status }) => status === 'done',
  );

export const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

export const looks: Inference = (sink) => {
  sink.reasoning('The user greets me.');
  sink.text('Let me look.');
  sink.toolStart('c1', 'get_weather');
  sink.toolEnd('c1', '{"location":"Tokyo"}');
  return { stop: 'ToolUse' };
};
