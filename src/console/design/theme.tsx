import { createTheme, MantineProvider, Menu, Modal, Popover, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import '@mantine/core/styles/baseline.css';
import '@mantine/core/styles/UnstyledButton.css';
import '@mantine/core/styles/CloseButton.css';
import '@mantine/core/styles/Paper.css';
import '@mantine/core/styles/Overlay.css';
import '@mantine/core/styles/ModalBase.css';
import '@mantine/core/styles/Modal.css';
import '@mantine/core/styles/Popover.css';
import '@mantine/core/styles/Menu.css';
import '@mantine/core/styles/Tooltip.css';
import './tokens.css';
import './mantine.css';
import './global.css';
import './utilities.css';

/**
 * Mantine provides behavior (focus, layers, placement), and the design tokens provide the appearance. Mantine writes no
 * styles into the page, because the content security policy forbids them.
 */

const still = { duration: 0 };

/** Locking the page scroll behind a dialog would write a style into the page. */
const free = { lockScroll: false, transitionProps: still };

const theme = createTheme({
  respectReducedMotion: true,
  components: {
    Modal: Modal.extend({ defaultProps: { ...free, padding: 16, size: 'md', yOffset: '12vh' } }),
    ModalRoot: { defaultProps: free },
    Drawer: { defaultProps: free },
    DrawerRoot: { defaultProps: free },
    Popover: Popover.extend({ defaultProps: { transitionProps: still, shadow: 'md' } }),
    Menu: Menu.extend({ defaultProps: { transitionProps: still, shadow: 'md', position: 'bottom-end' } }),
    Tooltip: Tooltip.extend({
      defaultProps: {
        transitionProps: still,
        openDelay: 300,
        multiline: true,
        maw: 360,
        events: { hover: true, focus: true, touch: false },
      },
    }),
  },
});

/** Disables Mantine's color schemes: `data-theme` belongs to the console, and the tokens follow it. */
const COLOR_SCHEME = { get: () => 'light' as const, set() {}, subscribe() {}, unsubscribe() {}, clear() {} };

export const Theme = ({ children }: { children: ReactNode }) => (
  <MantineProvider
    theme={theme}
    forceColorScheme="light"
    colorSchemeManager={COLOR_SCHEME}
    withCssVariables={false}
    withGlobalClasses={false}
    withStaticClasses={false}
  >
    {children}
  </MantineProvider>
);
