import type { Browser, Page, Response } from 'playwright-core';
import type { Test } from 'tap';
import { eventually } from '../../service/troupe.ts';
import type { Terminals } from './terminals.ts';

/** The browser of a person who follows a tutorial: one tab per server. */
export type Tabs = {
  /** Opens an address, or returns to the tab of its server. */
  open(address: string): Promise<void>;
  reload(): Promise<void>;
  click(button: string): Promise<void>;
  /** Sends a message to the agent. */
  send(text: string): Promise<void>;
  /** The response to the latest message has streamed its text. */
  seesDeltas(): Promise<void>;
  /** The last paragraphs of the page are these lines, in which `[Name]` is a button. */
  seesLines(lines: readonly string[]): Promise<void>;
  seesError(): Promise<void>;
  sees(text: string): Promise<void>;
  openConsole(): Promise<void>;
  /** Chooses a screen in the navigation of the console. */
  chooseScreen(name: string): Promise<void>;
  /** Chooses the first run in the list of the console. */
  chooseRun(): Promise<void>;
  /** The statechart of the run shows this state. */
  seesState(state: string): Promise<void>;
};

export const openTabs = (
  t: Test,
  browser: Browser,
  { here, consoleLink }: Pick<Terminals, 'here' | 'consoleLink'>,
): Tabs => {
  const opened = new Map<string, Page>();
  let current: Page | undefined;
  let response: Promise<Response> | undefined;

  const page = (): Page => {
    if (!current) throw new Error('no page is open');
    return current;
  };
  const button = (name: string) => page().getByRole('button', { name, exact: true });
  const open = async (url: string): Promise<void> => {
    const { origin } = new URL(url);
    current = opened.get(origin);
    if (current) return current.bringToFront();
    current = await browser.newPage();
    current.setDefaultTimeout(60_000);
    opened.set(origin, current);
    current.on('pageerror', (error) => t.fail(`the page threw: ${error}`));
    await current.goto(url);
  };

  return {
    open: (address) => open(here(address)),
    async reload() {
      await page().reload();
    },
    click: (name) => button(name).click(),
    async send(text) {
      response = page().waitForResponse(
        (each) => each.request().method() === 'POST' && each.url().endsWith('/v1/ai-sdk/chat'),
      );
      await page().getByLabel('Message').fill(text);
      await button('Send').click();
    },
    async seesDeltas() {
      const frames = await (await response)?.text();
      t.ok((frames ?? '').split('"type":"text-delta"').length > 2, 'the text consists of several deltas');
    },
    async seesLines(lines) {
      const last = async () => (await linesOf(page())).slice(-lines.length);
      await eventually(last, (shown) => shown.join('\n') === lines.join('\n')).catch(() => {});
      t.strictSame(await last(), lines);
    },
    seesError: () => page().getByRole('alert').waitFor(),
    sees: (text) => page().getByText(text).first().waitFor(),
    openConsole: async () => open(await consoleLink()),
    chooseScreen: (name) => page().getByRole('link', { name, exact: true }).first().click(),
    chooseRun: () => page().locator('[data-testid^="run-row-"]').first().click(),
    seesState: (state) => page().locator(`[data-testid="run-statechart"][data-state="${state}"]`).waitFor(),
  };
};

const linesOf = (page: Page): Promise<string[]> =>
  page.evaluate(`Array.from(document.querySelectorAll('p'), ({ childNodes }) =>
    Array.from(childNodes, ({ nodeName, textContent }) =>
      nodeName === 'BUTTON' ? '[' + textContent + ']' : textContent.trim()).join(' '))`);
