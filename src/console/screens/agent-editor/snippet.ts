/** A shell command that runs an agent. */
export const snippetOf = (origin: string, id: string): string => {
  const body = JSON.stringify({ agentId: id, messages: [{ role: 'user', content: 'Hello' }] });
  return `curl -N ${origin}/v1/runs \\\n  -H 'content-type: application/json' \\\n  -d '${body.replaceAll("'", "'\\''")}'`;
};
