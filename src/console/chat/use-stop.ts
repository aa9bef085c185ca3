import { useEffect, useRef, useState } from 'react';

/** The stop of a response by the user, with the time that the response had taken until then. */
export const useStop = (
  isBusy: boolean,
  stop: () => void,
): { stop(): void; stoppedMs: number | undefined } => {
  const began = useRef(0);
  const [stoppedMs, setStopped] = useState<number>();
  useEffect(() => {
    if (!isBusy) return;
    began.current = performance.now();
    setStopped(undefined);
  }, [isBusy]);
  return {
    stoppedMs,
    stop() {
      setStopped(performance.now() - began.current);
      stop();
    },
  };
};
