/**
 * Returns the segment of a tool id for the name of an MCP server or of one of its tools: runs of characters other than
 * ASCII letters and digits become one underscore (config.md 13.1). Different names may have the same segment.
 *
 * @example mcpSegment('my-server') // 'my_server'
 */
export const mcpSegment = (name: string): string => name.match(/[A-Za-z0-9]+/g)?.join('_') ?? '';
