import { createOpenAI } from '@ai-sdk/openai';
import * as ai from 'ai';
import t from 'tap';
import { testAiSdk } from './on-ai-sdk.ts';

/** Version 6 of the AI SDK. */

await testAiSdk(t, { createOpenAI, ai });
