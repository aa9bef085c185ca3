import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { blocks } from '../docs/pages.ts';
import { ADMIN_TOKEN, startDemo } from '../service/troupe.ts';
import type { Site } from './pages.ts';

/** The component of the manual on a separate page. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const GUIDE = 'src/docs/guides/chat-and-ag-ui.md';

const HTML = '<!doctype html><div id="root"></div><script type="module" src="./main.tsx"></script>';

/** The page address contains the address of the service. */
const SERVICE = "new URLSearchParams(location.search).get('service') ?? ''";

const program = (component: string): string => `
${component
  .replace("'http://127.0.0.1:38080'", SERVICE)
  .replace("'troupe/react'", JSON.stringify(join(ROOT, 'src/react/index.ts')))}
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
createRoot(document.getElementById('root')).render(createElement(Chat, { thread: 'T' }));
`;

/** Writes the page. Returns its folder. */
export const writeManualPage = (t: Test): string => {
  const component = blocks('tsx').find(({ file }) => file === GUIDE)?.text ?? '';
  // Inside the checkout, where its imports resolve.
  const folder = join(ROOT, '.tap', 'manual-page');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'index.html'), HTML);
  writeFileSync(join(folder, 'main.tsx'), program(component));
  return folder;
};

export const testManualPage = (t: Test, { origin, tabs }: Site): void => {
  t.test('connects the component of the manual to an agent', async (t) => {
    const troupe = await startDemo(t, {
      settings: { AdminApiConfig: { bearer_token: ADMIN_TOKEN, cors_allowed_origins: [origin] } },
    });
    const page = await tabs.open(t, `${origin}/manual-page/?service=${troupe.url}`);
    await page.getByRole('button', { name: 'ready' }).click();
    await page.getByText('assistant: Scripted response to: Hello').waitFor();
    await page.getByRole('button', { name: 'ready' }).waitFor();
    t.pass('the completion is shown');
  });
};
