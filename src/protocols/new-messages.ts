/** Returns messages whose id the thread does not have, each once; messages without an id are always new. */
export const newMessages = <Message extends { id?: string | null | undefined }>(
  messages: readonly Message[],
  has: (id: string) => boolean,
): Message[] => {
  const seen = new Set<string>();
  return messages.filter(({ id }) => {
    if (!id) return true;
    if (seen.has(id) || has(id)) return false;
    seen.add(id);
    return true;
  });
};
