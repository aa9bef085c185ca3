import { useState } from 'react';
import { KEYS, readJson, writeKey } from '../../data/storage.ts';
import { type ClientTool, storedTools } from './client-tools.ts';

/** They are this browser's, for whichever agent is talked to. */
export const useClientTools = () => {
  const [tools, show] = useState(() => storedTools(readJson(KEYS.playgroundTools)));
  const setTools = (after: ClientTool[]): void => {
    writeKey(KEYS.playgroundTools, after.length === 0 ? null : JSON.stringify(after));
    show(after);
  };
  return { tools, setTools };
};
