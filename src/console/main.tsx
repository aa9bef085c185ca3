import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { readConfiguration } from './boot/configuration.ts';
import { watchConnection } from './data/connection.ts';
import { watchIdentity } from './data/identity.ts';
import { queryClient, watchToken } from './data/queries.ts';
import { setBackend } from './data/request.ts';
import { signInByLink } from './data/sign-in.ts';
import { Theme } from './design/theme.tsx';
import { startLocale } from './i18n/locale.ts';
import { screens } from './screens/table.ts';
import { createConsoleRouter } from './shell/router.tsx';
import { startDensity, startTheme } from './shell/theme.ts';

/**
 * The browser console: a thin client of the service's own routes, which Vite builds and the service serves.
 *
 *   boot/          settings read before the start; the script of `index.html` sets the theme even earlier
 *   data/          the only request client (token, 401, guards), cached reads and their refresh, masking of secrets
 *   i18n/          language, numbers and times; each folder has its texts, and `dictionaries/` contains all of them
 *   design/        the design tokens, the utilities (global classes), and the components that every screen uses
 *   feedback/      writes, their dialogs and the toasts about them
 *   navigation/    links between screens, and the protection of unsaved changes
 *   list/, entry/  the only list (search, order, pages, columns, selection), and the form of an entry
 *   screens/       one folder per screen; `table.ts` lists them all
 *   shell/         everything around the screens: sidebar, top bar, palette, keys, notifications
 *
 * The other folders hold what several screens share; they import neither a screen nor the shell.
 *
 * Code that needs no browser is in modules without browser imports, and is tested without one.
 */
const start = async (): Promise<void> => {
  signInByLink();
  startTheme();
  startDensity();
  startLocale();
  const { backendUrl, title } = await readConfiguration();
  setBackend(backendUrl);
  watchToken();
  watchIdentity();
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
