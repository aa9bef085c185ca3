import t from 'tap';
import { searchTools } from '../../../src/plugins/deferred-tools/search.ts';
import { describeTool } from './stepping.ts';

const TOOLS = [
  describeTool('get_weather', 20, 'Current weather of a place.'),
  describeTool('get_stock_price', 20, 'Price of a stock in US dollars.'),
  describeTool('search_for_places', 20, 'Finds a place to stay or to eat.'),
  describeTool('mail', 20, 'Sends a mail about the price.'),
];

const queries: [query: string, found: string[], limit?: number][] = [
  ['select:mail,get_weather', ['mail', 'get_weather']],
  ['select: mail , nope, mail', ['mail']],
  ['select:MAIL', []],
  ['select:get_weather,get_stock_price', ['get_weather', 'get_stock_price'], 1],
  ['weather', ['get_weather']],
  ['PLACE', ['get_weather', 'search_for_places']],
  ['price stock', ['get_stock_price', 'mail']],
  ['price stock', ['get_stock_price'], 1],
  ['+place stay', ['search_for_places', 'get_weather']],
  ['+place', ['get_weather', 'search_for_places']],
  ['+price +mail', ['mail']],
  ['+nope price', []],
  ['submarine', []],
  ['', []],
  ['+', []],
];
for (const [query, found, limit = 5] of queries) {
  t.test(`the query "${query}" finds ${found.join(', ') || 'nothing'} of at most ${limit}`, async (t) => {
    t.same(
      searchTools(TOOLS, query, limit).map(({ id }) => id),
      found,
    );
  });
}
