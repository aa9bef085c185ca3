import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { Tool } from './tool.ts';

/** Demo tools of the research agent (agent-loop.md 18.4). The client stores the report and the resources. */

const Resource = z.object({
  id: z.string(),
  url: z.string(),
  title: z.string(),
  description: z.string(),
});

const search = defineTool({
  id: 'search',
  name: 'Search',
  description: 'Searches for sources.',
  category: 'research',
  idempotent: true,
  input: z.object({ query: z.string() }),
  execute: ({ query }) => ({
    data: {
      query,
      results: [1, 2, 3].map((rank) => ({
        id: `result-${rank}`,
        url: `https://example.com/${rank}?${new URLSearchParams({ q: query })}`,
        title: `${query} (result ${rank})`,
        snippet: `What source ${rank} says about ${query}`,
      })),
    },
  }),
});

const writeReport = defineTool({
  id: 'write_report',
  name: 'Write Report',
  description: 'Replaces the report.',
  category: 'research',
  idempotent: true,
  input: z.object({ report: z.string() }),
  execute: ({ report }) => ({ data: { length: Buffer.byteLength(report) } }),
});

const setResearchQuestion = defineTool({
  id: 'set_research_question',
  name: 'Set Research Question',
  description: 'Replaces the research question.',
  category: 'research',
  idempotent: true,
  input: z.object({ question: z.string() }),
  execute: ({ question }) => ({ data: { question } }),
});

const deleteResources = defineTool({
  id: 'delete_resources',
  name: 'Delete Resources',
  description: 'Removes resources from the collection.',
  category: 'research',
  idempotent: true,
  input: z.object({ resource_ids: z.array(z.string()) }),
  execute: ({ resource_ids }) => ({ data: { deleted: resource_ids.length } }),
});

const extractResources = defineTool({
  id: 'extract_resources',
  name: 'Extract Resources',
  description: 'Adds resources to the collection.',
  category: 'research',
  idempotent: true,
  input: z.object({ resources: z.array(Resource) }),
  execute: ({ resources }) => ({ data: { added: resources.length, total: resources.length } }),
});

export const researchTools: readonly Tool[] = [
  search,
  writeReport,
  setResearchQuestion,
  deleteResources,
  extractResources,
];
