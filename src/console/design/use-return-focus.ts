import { useEffect, useState } from 'react';

/** Returns the focus to the element that opened this component when the component is unmounted. */
export const useReturnFocus = (): void => {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // Deferred until the focus trap has released the focus.
      setTimeout(() => {
        if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
      });
    },
    [opener],
  );
};
