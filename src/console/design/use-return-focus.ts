import { useEffect, useState } from 'react';

/** When what is shown goes away, the focus goes back to what it was opened from. */
export const useReturnFocus = (): void => {
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // Once whatever traps the focus has let it go.
      setTimeout(() => {
        if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true });
      });
    },
    [opener],
  );
};
