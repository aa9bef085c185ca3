import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { testAgUiPage } from './on-ag-ui-page.ts';
import { testChatPage } from './on-chat-page.ts';
import { testManualPage, writeManualPage } from './on-manual-page.ts';
import { startSite } from './pages.ts';

/** Tests of the example pages in one real browser, on real services. */

const HERE = fileURLToPath(new URL('.', import.meta.url));

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const folders = [join(HERE, 'chat-page'), join(HERE, 'ag-ui-page'), writeManualPage(t)];
  const site = await startSite(t, folders);
  testChatPage(t, site);
  testAgUiPage(t, site);
  testManualPage(t, site);
}
