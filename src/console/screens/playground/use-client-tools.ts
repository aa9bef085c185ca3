import { useState } from 'react';
import { type ClientTool, storedTools } from '../../chat/client-tools.ts';
import { KEYS, readJson, writeKey } from '../../data/storage.ts';

/** The client tools of this browser, shared by all agents. */
export const useClientTools = () => {
  const [tools, show] = useState(() => storedTools(readJson(KEYS.playgroundTools)));
  const setTools = (after: ClientTool[]): void => {
    writeKey(KEYS.playgroundTools, after.length === 0 ? null : JSON.stringify(after));
    show(after);
  };
  return { tools, setTools };
};
