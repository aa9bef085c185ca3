import { z } from 'zod';
import type { OpenApiInfo } from './openapi.ts';
import { JSON_TYPE, plainText, type Reply } from './reply.ts';
import { type Route, route } from './route.ts';

const OpenApi = z
  .looseObject({ openapi: z.string(), paths: z.looseObject({}) })
  .meta({ description: 'An OpenAPI 3.1 document.' });

/** The document and its generator are loaded by the first request, and the document is cached. */
export const openApiRoute = (routes: readonly Route[], info: OpenApiInfo): Route => {
  const build = async (): Promise<Reply> => {
    const { createOpenApi } = await import('./openapi.ts');
    return plainText(JSON.stringify(createOpenApi([...routes, self], info)), JSON_TYPE);
  };
  let document: Promise<Reply> | undefined;
  const self: Route = route.get('/openapi.json', {
    id: 'getOpenApi',
    summary: 'This document',
    description: 'The routes of this service; routes that the settings disable are omitted.',
    tag: 'system',
    needs: 'nothing',
    responses: { 200: OpenApi },
    handle() {
      document ??= build();
      return document;
    },
  });
  return self;
};
