import type { ReactNode } from 'react';
import { Button } from '../design/Button.tsx';
import { ErrorBox } from '../design/Loaded.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { List } from './List.tsx';
import type { ListProps } from './list-props.ts';
import listTexts from './texts.json' with { type: 'json' };
import type { Pages } from './use-pages.ts';

export const More = <Row,>({ pages, label = 'more' }: { pages: Pages<Row>; label?: 'more' | 'searchOn' }) => {
  const t = useTexts(listTexts);
  return (
    pages.hasMore && (
      <Button small disabled={pages.isReading} onClick={pages.loadMore}>
        {t(label)}
      </Button>
    )
  );
};

/** How many rows are loaded or searched, and a button that continues. */
const Progress = <Row,>({ pages, isRanked }: { pages: Pages<Row>; isRanked: boolean }) => {
  const t = useTexts(listTexts);
  const format = useFormat();
  const { total = 0, searched } = pages.last ?? {};
  const counts = { count: format.number(pages.rows.length), total: format.number(total) };
  // If all examined rows match, a search is no different from other lists.
  const isSearch = searched !== undefined && searched !== pages.rows.length && !isRanked;
  const describe = (): string => {
    const values = { ...counts, searched: format.number(searched ?? 0) };
    if (isRanked && searched !== undefined && searched < total) return t('ranked', values);
    if (isSearch) return t(searched < total ? 'searched' : 'searchedAll', values);
    return pages.hasMore ? t('loaded', counts) : '';
  };
  return (
    <>
      <span role="status">{describe()}</span>
      <More pages={pages} label={isSearch ? 'searchOn' : 'more'} />
    </>
  );
};

/** The content that needs the first page of a list of the service. */
export const LoadedPages = <Row,>(props: {
  pages: Pages<Row>;
  plain?: boolean;
  skeleton?: ReactNode;
  children: ReactNode;
}) => {
  const { pages, plain, skeleton = <SkeletonRows /> } = props;
  if (pages.last) return props.children;
  if (!pages.error) return skeleton;
  return <ErrorBox error={pages.error} off={pages.off} plain={plain} onRetry={pages.refresh} />;
};

/** A list that the service filters, sorts and divides into pages. */
export const PagedList = <Row,>({
  pages,
  isRanked = false,
  isSearchedHere = false,
  rows = pages.rows,
  ...props
}: Omit<ListProps<Row>, 'rows' | 'fresh' | 'unpaged' | 'isPaged' | 'after'> & {
  pages: Pages<Row>;
  /** The order has no index: the service sorts a limited number of rows. */
  isRanked?: boolean | undefined;
  /** The service cannot search or sort the list, so the console does so with the loaded rows. */
  isSearchedHere?: boolean | undefined;
  /** The loaded rows to list, by default all. */
  rows?: readonly Row[];
}) => (
  <LoadedPages pages={pages}>
    <List
      {...props}
      rows={rows}
      {...(isSearchedHere ? { unpaged: true } : { isPaged: true })}
      fresh={{ at: pages.at, busy: pages.isReading, refresh: pages.refresh }}
      after={isSearchedHere ? <More pages={pages} /> : <Progress pages={pages} isRanked={isRanked} />}
    />
  </LoadedPages>
);
