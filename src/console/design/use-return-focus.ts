import { useEffect, useState } from 'react';

/** The element to which a closed component is about to return the focus. */
let returning: Element | null | undefined;

/**
 * Returns the focus to the element that opened this component when the component is unmounted. A component that replaces
 * another one at once takes over its opener.
 */
export const useReturnFocus = (): void => {
  const [active] = useState(() => document.activeElement);
  useEffect(() => {
    const opener = returning ?? active;
    returning = undefined;
    return () => {
      returning = opener;
      // Deferred until the focus trap has released the focus.
      setTimeout(() => {
        if (returning !== opener) return;
        returning = undefined;
        if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
      });
    };
  }, [active]);
};
