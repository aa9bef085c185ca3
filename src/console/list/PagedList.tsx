import { Button } from '../design/Button.tsx';
import { ErrorBox } from '../design/Loaded.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { List } from './List.tsx';
import type { ListProps } from './list-props.ts';
import { listTexts } from './texts.ts';
import type { Pages } from './use-pages.ts';

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
      {pages.hasMore && (
        <Button small disabled={pages.isReading} onClick={pages.loadMore}>
          {t(isSearch ? 'searchOn' : 'more')}
        </Button>
      )}
    </>
  );
};

/** A list that the service filters, sorts and divides into pages. */
export const PagedList = <Row,>({
  pages,
  isRanked = false,
  ...props
}: Omit<ListProps<Row>, 'rows' | 'fresh' | 'unpaged' | 'isPaged' | 'after'> & {
  pages: Pages<Row>;
  /** The order has no index: the service sorts a limited number of rows. */
  isRanked?: boolean;
}) => {
  if (!pages.last) {
    if (!pages.error) return <SkeletonRows />;
    return <ErrorBox error={pages.error} off={pages.off} onRetry={pages.refresh} />;
  }
  return (
    <List
      {...props}
      rows={pages.rows}
      isPaged
      fresh={{ at: pages.at, busy: pages.isReading, refresh: pages.refresh }}
      after={<Progress pages={pages} isRanked={isRanked} />}
    />
  );
};
