CREATE TYPE _op_kind AS enum('kernel', 'memcpy', 'memset', 'graph');
