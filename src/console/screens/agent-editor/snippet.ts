/** How an agent is run from a shell. */
export const snippetOf = (origin: string, id: string): string => {
  const body = JSON.stringify({ agentId: id, messages: [{ role: 'user', content: 'Hello' }] });
  return `curl -N ${origin}/v1/runs \\\n  -H 'content-type: application/json' \\\n  -d '${body.replaceAll("'", "'\\''")}'`;
};
