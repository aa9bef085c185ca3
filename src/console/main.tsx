import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { readConfiguration } from './boot/configuration.ts';
import { watchConnection } from './data/connection.ts';
import { queryClient, watchToken } from './data/queries.ts';
import { setBackend } from './data/request.ts';
import { Theme } from './design/theme.tsx';
import { startLocale } from './i18n/locale.ts';
import { screens } from './screens/table.ts';
import { createConsoleRouter } from './shell/router.tsx';
import { startDensity, startTheme } from './shell/theme.ts';

/**
 * The browser console: a thin client of the service's own routes, built by Vite into what the service serves.
 *
 *   boot/     what it is told before it starts; the theme is set before that, by the script of `index.html`
 *   data/     the one request client (token, 401, guards), what is read and when it is read again, what is masked
 *   design/   the tokens, and the parts that every screen is made of
 *   i18n/     texts in two languages, numbers and times; `en.ts` and `zh-CN.ts` have all of them
 *   list/     the one list: search, order, pages, columns, selection
 *   screens/  a folder a screen; `table.ts` is all there is
 *   shell/    what is around the screens: sidebar, top bar, palette, keys, toasts, notifications
 *
 * What needs no browser is in modules that import none of it, and is tested without one.
 */
const start = async (): Promise<void> => {
  startTheme();
  startDensity();
  startLocale();
  const { backendUrl, title } = await readConfiguration();
  setBackend(backendUrl);
  watchToken();
  watchConnection();
  const root = document.getElementById('root');
  if (!root) throw new Error('the page has no place for the console');
  createRoot(root).render(
    <Theme>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={createConsoleRouter(screens, title)} />
      </QueryClientProvider>
    </Theme>,
  );
};

void start();
