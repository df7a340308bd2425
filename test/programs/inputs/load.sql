-- SPDX-License-Identifier: Apache-2.0 OR MIT
-- What: a load for sqlite3: a hundred thousand rows, indexes, joins, updates, deletes, windows, JSON.
-- Invariant: every number comes from arithmetic on the row's id; nothing depends on the clock or on chance.
-- Must not know: the allocator.
PRAGMA journal_mode = MEMORY;
PRAGMA synchronous = OFF;
PRAGMA temp_store = MEMORY;
CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT, credit REAL);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER, item TEXT, price INTEGER, note TEXT);

BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO customer SELECT i, 'customer-' || printf('%06d', (i * 7919) % 100003), 'city-' || (i * 31 % 97), i % 1000 * 1.25 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
INSERT INTO purchase SELECT i, (i * 104729) % 5000 + 1, i * 13 % 365, 'item-' || (i * 17 % 211), i * 37 % 9973,
    substr('a note on what was bought, why it was bought and who carried it home', i % 40 + 1, i % 29) FROM n;
COMMIT;

CREATE INDEX purchase_by_customer ON purchase (customer, day);
CREATE INDEX purchase_by_item ON purchase (item, price);
ANALYZE;

SELECT count(*), sum(price), min(note), max(note) FROM purchase;
SELECT city, count(*) AS bought, sum(price) AS paid FROM customer JOIN purchase ON purchase.customer = customer.id
    GROUP BY city ORDER BY paid DESC, city LIMIT 20;
SELECT a.item, b.item, count(*) AS together FROM purchase AS a JOIN purchase AS b
    ON a.customer = b.customer AND a.day = b.day AND a.id < b.id
    GROUP BY a.item, b.item ORDER BY together DESC, a.item, b.item LIMIT 10;
SELECT day, group_concat(item, '+') FROM (SELECT day, item FROM purchase WHERE price > 9900 ORDER BY day, id) GROUP BY day LIMIT 10;
SELECT name, rank FROM (SELECT name, rank() OVER (PARTITION BY city ORDER BY credit DESC, id) AS rank FROM customer)
    WHERE rank <= 2 ORDER BY name LIMIT 20;

UPDATE purchase SET note = note || '/' || upper(note) WHERE id % 3 = 0;
DELETE FROM purchase WHERE id % 11 = 0;
SELECT json_group_array(json_object('item', item, 'price', price)) FROM (SELECT item, price FROM purchase ORDER BY price, id LIMIT 50);
SELECT length(note), count(*) FROM purchase GROUP BY 1 ORDER BY 1;
VACUUM;
PRAGMA integrity_check;
