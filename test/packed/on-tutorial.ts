import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { CHROMIUM, hasChromium, launchChromium } from '../../bench/chromium.ts';
import { blocks } from '../docs/pages.ts';
import { ROOT } from './project.ts';
import { stepsOf } from './tutorial/steps.ts';
import { openTabs } from './tutorial/tabs.ts';
import { openTerminals } from './tutorial/terminals.ts';

/** Follows the tutorial from its page alone: files, commands, clicks and results are those of the Markdown. */

const PAGE = 'src/docs/tutorial.md';

/** The page promises 15 minutes, in which a reader types no more lines. */
const MOST_LINES = 120;

const LANGUAGES_OF_FILES = new Set(['html', 'json', 'ts', 'tsx']);

export const testTutorial = (t: Test, { home, tarball }: { home: string; tarball: string }): void => {
  t.test('limits the length of the files of the tutorial', async (t) => {
    const files = blocks().filter(({ file, language }) => file === PAGE && LANGUAGES_OF_FILES.has(language));
    const lines = files.flatMap(({ text }) => text.split('\n'));
    t.ok(files.length > 0);
    t.ok(lines.length <= MOST_LINES, `${lines.length} lines`);
  });

  t.test('rejects parts of a tutorial that are not followed', async (t) => {
    t.throws(() => stepsOf('1. Dance.\n'), { message: 'the item asks for no known step: Dance.' });
    t.throws(() => stepsOf('A file:\n\n```ts\nx;\n```\n'), { message: 'no file is named before x;' });
  });

  t.test('follows a phrase as often as the tutorial repeats it, in the order of the text', async (t) => {
    const steps = stepsOf('1. Reload the page. Press Ctrl+C in the first terminal. Reload the page.\n');
    t.strictSame(
      steps.map(({ asks }) => asks),
      ['Reload the page', 'Press Ctrl+C in the first terminal', 'Reload the page'],
    );
  });

  const skip = !hasChromium() && `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`;
  t.test('builds, approves and restarts as the tutorial states', { skip, timeout: 300_000 }, async (t) => {
    const browser = await launchChromium();
    t.teardown(() => browser.close());
    const terminals = openTerminals(t, { home, tarball });
    const reader = { ...terminals, ...openTabs(t, browser, terminals) };
    for (const { asks, follow } of stepsOf(readFileSync(join(ROOT, PAGE), 'utf8'))) {
      t.comment(asks);
      await follow(reader);
    }
  });
};
